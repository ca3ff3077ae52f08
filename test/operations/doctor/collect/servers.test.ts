import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { serversAt } from '../../../../src/operations/doctor/collect/host.ts';
import type { ServerFacts } from '../../../../src/operations/doctor/facts.ts';
import { folderWith } from '../../../folder.ts';

const NOW_MS = 1_700_000_000_000;

/** As a report has them: members that are not known are absent. */
async function serversIn(root: string): Promise<readonly ServerFacts[]> {
  return JSON.parse(JSON.stringify(await serversAt(root, NOW_MS)));
}

test('servers are found by their programs, with the port of their title, and other processes are not', async (t) => {
  const root = folderWith(t, {
    'proc/7/cmdline': 'redis-server *:6379 [cluster]\0\0\0',
    'proc/8/cmdline': '/usr/bin/valkey-server 127.0.0.1:6380\0',
    'proc/9/cmdline': 'keydb-server ::1:6381\0',
    'proc/10/cmdline': 'redis-server *:26379 [sentinel]\0',
    'proc/11/cmdline': 'vi\0redis-server.conf\0',
    // The child of a save.
    'proc/12/cmdline': 'redis-rdb-bgsave *:6379\0',
    'proc/13/cmdline': '',
    'proc/self/cmdline': 'redis-server *:6379\0',
    'proc/uptime': '1 1\n',
  });
  const servers = await serversIn(root);
  assert.deepEqual(
    servers.toSorted((a, b) => a.pid - b.pid),
    [
      { program: 'redis-server', pid: 7, port: 6379 },
      { program: 'valkey-server', pid: 8, port: 6380 },
      { program: 'keydb-server', pid: 9, port: 6381 },
    ],
  );
});

test('arguments are not kept: no password of a command line is in the facts', async (t) => {
  const secret = 'hunter2:6379';
  const root = folderWith(t, {
    'proc/7/cmdline': `redis-server\0--requirepass\0${secret}\0--masterauth\0${secret}\0--port\x006390\0`,
    'proc/8/cmdline': `/usr/bin/searchd\0--config\0/nowhere/${secret}.conf\0--password=${secret}\0`,
  });
  const servers = await serversIn(root);
  assert.equal(servers.length, 2);
  assert.ok(!JSON.stringify(servers).includes('hunter2'), JSON.stringify(servers));
});

const CONFIGURATION = `
source goods { type = mysql
  sql_pass = hunter2
}
index goods
{
  source = goods
  path = ROOT/data/goods
}
# index old { path = ROOT/data/old }
index cars : goods {
  path = ROOT/data/cars
}
index all
{
  type = distributed
  local = goods
}
searchd
{
  listen = 127.0.0.1:9312
  listen = 9306:mysql41
  max_children = 40
  pid_file = ROOT/searchd.pid
}
`;

/** A searchd with a configuration whose paths are inside the root folder. */
function searchdRoot(t: TestContext, configuration: string, words: readonly string[] = []): string {
  const root = folderWith(t, { 'data/goods.sph': '', 'data/old.sph': '' });
  writeFileSync(join(root, 'sphinx.conf'), configuration.replaceAll('ROOT', root));
  const asked = words.length === 0 ? ['--config', join(root, 'sphinx.conf')] : words;
  mkdirSync(join(root, 'proc/20'), { recursive: true });
  writeFileSync(join(root, 'proc/20/cmdline'), ['/usr/bin/searchd', ...asked, '--nodetach', ''].join('\0'));
  const seconds = NOW_MS / 1000 - 90;
  utimesSync(join(root, 'data/goods.sph'), seconds, seconds);
  return root;
}

test('a searchd has the port, the limit and the ages of the indexes of its configuration', async (t) => {
  const root = searchdRoot(t, CONFIGURATION);
  assert.deepEqual(await serversIn(root), [
    { program: 'searchd', pid: 20, port: 9306, maxChildren: 40, indexAgeSeconds: { goods: 90 } },
  ]);
});

test('a configuration that is named relatively is in the working folder of the process', async (t) => {
  const root = searchdRoot(t, CONFIGURATION, ['-c', 'sphinx.conf']);
  symlinkSync(root, join(root, 'proc/20/cwd'));
  const [server] = await serversIn(root);
  assert.equal(server?.maxChildren, 40);
});

test('max_children 0 is no limit, and an address before the port is no port', async (t) => {
  const root = searchdRoot(
    t,
    CONFIGURATION.replace('max_children = 40', 'max_children = 0').replace('9306:mysql41', '10.0.0.5:9307:mysql41'),
  );
  const [server] = await serversIn(root);
  assert.deepEqual([server?.port, server?.maxChildren], [9307, undefined]);
});

test('a configuration that is missing, too large or no file leaves the figures out', async (t) => {
  for (const words of [
    ['--config', '/nowhere/sphinx.conf'],
    ['--config', '/dev/zero'],
    ['--config', '/tmp'],
    ['--config'],
  ]) {
    const root = searchdRoot(t, CONFIGURATION, words);
    assert.deepEqual(await serversIn(root), [{ program: 'searchd', pid: 20 }]);
  }
  const large = searchdRoot(t, CONFIGURATION + ' '.repeat(2 ** 20));
  assert.deepEqual(await serversIn(large), [{ program: 'searchd', pid: 20 }]);
});

test('of a host with very many servers the first 64 are kept', async (t) => {
  const files = Array.from({ length: 70 }, (_, at) => [`proc/${100 + at}/cmdline`, `redis-server *:${7000 + at}\0`]);
  assert.equal((await serversIn(folderWith(t, Object.fromEntries(files)))).length, 64);
});

test('without /proc there are no servers', async (t) => {
  assert.deepEqual(await serversIn(folderWith(t, {})), []);
});
