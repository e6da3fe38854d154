"""Prints what the methods of pypuppetdb return, as JSON. Its argument is the port of the service."""
import json, sys
import pypuppetdb
from pypuppetdb.QueryBuilder import EqualsOperator

db = pypuppetdb.connect(host='127.0.0.1', port=int(sys.argv[1]), protocol='http')
desc = json.dumps([{'field': 'certname', 'order': 'desc'}])
list(db.nodes(limit=1, include_total=True))
answers = {
    'total': db.total,
    'version': db.current_version(),
    'nodes': [node.name for node in db.nodes()],
    'with status': {node.name: node.status for node in db.nodes(with_status=True)},
    'query': [node.name for node in db.nodes(query=EqualsOperator('certname', 'web1'))],
    'page': [node.name for node in db.nodes(limit=1, order_by=desc, include_total=True)],
    'node facts': {fact.name: fact.value for fact in db.node('web1').facts()},
    'node fact': db.node('web1').fact('kernel').value,
    'facts': {fact.node: fact.value for fact in db.facts('os')},
    'fact names': db.fact_names(),
    'fact paths': [row['path'] for row in db.fact_paths()],
    'fact contents': len(list(db.fact_contents())),
    'factsets': [row['certname'] for row in db.factsets()],
    'inventory': {row.node: row.facts['os']['family'] for row in db.inventory()},
    'resources': [[row.node, row.type_, row.name] for row in db.resources('File', '/etc/hosts')],
    'environments': [row['name'] for row in db.environments()],
    'catalogs': [catalog.node for catalog in db.catalogs()],
    'edges': list(db.edges()),
    'reports': [[row.node, row.status] for row in db.reports()],
    'events': [row.item['message'] for row in db.events()],
    'event counts': [row['successes'] for row in db.event_counts('certname')],
    'aggregate event counts': [row['successes'] for row in db.aggregate_event_counts('certname')],
    'status': db.status()['state'],
    'metric': db.metric('puppetlabs.puppetdb.population:name=num-nodes'),
}
try:
    list(db.nodes(query='["=", "colour", "red"]'))
except Exception as error:
    answers['refused'] = error.response.status_code
print(json.dumps(answers))
