// Uses the types that openapi-typescript makes of openapi.yaml: see generated_client_spec.rb.
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

declare const process: { env: Record<string, string | undefined> };
const client = createClient<paths>({ baseUrl: process.env['HTTP'] ?? '' });

function known<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`there is no ${what}`);
  return value;
}

type Key = components['schemas']['Key'];
const isKey = (body: object): body is Key => 'value' in body;

// Events would be a text.
function json<T>(value: T | string | undefined): T {
  if (typeof value === 'string') throw new Error('this is no JSON');
  return known(value, 'body');
}

// The client escapes the slash of the key.
const key = { path: 'app1/token' };

async function keys(): Promise<object> {
  const put = await client.PUT('/v1/keys/{path}', {
    params: { path: key, header: { 'If-None-Match': '*' } },
    body: { value: 's3cret', metadata: { owner: 'dba' } },
  });
  const etag = known(put.response.headers.get('etag') ?? undefined, 'ETag');
  const got = json((await client.GET('/v1/keys/{path}', { params: { path: key } })).data);
  if (!isKey(got)) throw new Error('this is no key');
  const swap = (value: string) =>
    client.PUT('/v1/keys/{path}', { params: { path: key, header: { 'If-Match': etag } }, body: { value } });
  const statuses = [put, await swap('new'), await swap('lost')].map((answer) => answer.response.status);
  const listed = json((await client.GET('/v1/keys', { params: { query: { recurse: true, values: false } } })).data);
  const batch = known((await client.POST('/v1/keys:batch', {
    body: { operations: [{ op: 'get', key: 'app1/token' }, { op: 'delete', key: 'app1/none' }] },
  })).data, 'results');
  const waiting = json((await client.GET('/v1/keys/{path}', {
    params: { path: { path: 'app1' }, query: { wait: '1s' } },
  })).data);
  return {
    owner: got.metadata['owner'], statuses, keys: 'keys' in listed ? Object.keys(listed.keys) : [],
    batch: Object.entries(batch.results).map(([name, result]) => [name, result.status]),
    cookie: 'cookie' in waiting && typeof waiting.cookie,
  };
}

async function rules(): Promise<object> {
  const rule: components['schemas']['NewRule'] = { actions: [{ op: 'log', args: { msg: 'seen' } }], phase: 'main' };
  const made = known((await client.POST('/v1/inspection_rules', { body: rule })).data, 'rule');
  await client.DELETE('/v1/inspection_rules/{uuid}', { params: { path: { uuid: known(made.uuid, 'uuid') } } });
  const again = await client.POST('/v1/inspection_rules', { body: made as components['schemas']['NewRule'] });
  const refused = await client.POST('/v1/inspection_rules', { body: { ...rule, priority: 10_000 } });
  return { again: again.response.status, refused: known(refused.error, 'problem').detail };
}

async function nodes(): Promise<string[]> {
  await client.PUT('/v1/nodes/{certname}/record', {
    params: { path: { certname: 'web1' } }, body: { environment: 'production' },
  });
  const list = known((await client.GET('/v1/nodes', { params: { query: { never_run: true } } })).data, 'list');
  return list.nodes.map((node) => `${node.name} ${node.environment ?? ''}`);
}

console.log(JSON.stringify({ ...(await keys()), rules: await rules(), nodes: await nodes() }));
