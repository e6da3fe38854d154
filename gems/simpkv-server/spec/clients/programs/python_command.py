"""Sends a command, and asks about its node. Prints one line of JSON."""

import json
import os
from datetime import datetime, timezone
from urllib.parse import urlparse

import pypuppetdb

address = urlparse(os.environ['HTTP'])
db = pypuppetdb.connect(host=address.hostname, port=address.port)
facts = {'certname': 'python', 'environment': 'production', 'producer': None,
         'producer_timestamp': datetime.now(timezone.utc).isoformat(), 'values': {'kernel': 'Linux'}}
print(json.dumps({'uuid': db.command('replace facts', facts).get('uuid')}))
