import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once as onceEmitted } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { accepts, freePorts, startProcess } from '../../loadtest/stack/process.ts';
import { temporaryFolder } from '../folder.ts';
import { until } from '../until.ts';
import { pageJourneys } from './page-journeys.ts';
import { ask, demoDomains, type Service, startService } from './service-harness.ts';

const directory = temporaryFolder({ after });

const GOODS = demoDomains(join(directory, 'demo'));

pageJourneys('the page over the whole service and its demo catalogue', async () => {
  const service = await startService(GOODS);
  return { baseUrl: service.url, stop: service.stop };
});

describe('the embedded service', () => {
  let service: Service;
  before(async () => {
    // A handle that is never closed, as a library may leave one: it must not keep the process from exiting.
    service = await startService(GOODS, { NODE_OPTIONS: '--import=data:text/javascript,setInterval(()=>{},1e9)' });
  });
  after(() => service?.stop());

  test('the searches that the demo suggests have fitting results', async () => {
    for (const q of ['кроссовки', 'iphone 13', 'диван']) {
      const { total, results } = JSON.parse((await ask(service, q)).body);
      assert.ok(total >= 20 && results.length === 20, `${q}: ${total}`);
      const word = q.split(' ')[0] ?? '';
      const fitting = results.filter((each: { title: string }) => each.title.toLowerCase().includes(word.slice(0, 6)));
      assert.ok(fitting.length >= 15, `${q}: ${results.map((each: { title: string }) => each.title)}`);
    }
  });

  test('SIGTERM under load drops no request and ends the process, also with an open handle', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    let leaving = false;
    let answered = 0;
    const broken: string[] = [];
    const client = async (n: number): Promise<void> => {
      for (let i = 0; i < 5000; i += 1) {
        const result = await once(`${service.url}/search?q=${encodeURIComponent(`диван ${(n * 7 + i) % 200}`)}`, agent);
        // A shed search counts as answered: other tests load this machine.
        if (result.status === 200 || result.status === 503) answered += 1;
        // The listener is closed: the client stops.
        else if (leaving && result.code === 'ECONNREFUSED') return;
        // An idle connection was closed while the request was on its way, which HTTP/1.1 lets a client ask again.
        else if (leaving && result.code === 'unread') continue;
        else broken.push(`${result.status ?? result.code}`);
      }
    };
    const clients = Array.from({ length: 16 }, (_, n) => client(n));
    await until('answers', () => answered > 100);
    leaving = true;
    service.process().signal('SIGTERM');
    await service.process().ended;
    await Promise.all(clients);
    agent.destroy();
    assert.deepEqual(broken, []);
    assert.doesNotMatch(service.log(), /connections cut/);
  });
});

test('a catalogue of the user is indexed by one command and searched', async () => {
  const rows = Array.from({ length: 50 }, (_, i) =>
    JSON.stringify({ id: `own-${i}`, title: `Велоприцеп ${i}`, price: i }),
  );
  const file = join(directory, 'own.ndjson');
  const config = join(directory, 'own.yaml');
  const domains = `  bikes:
    store: { kind: none }
    engine: { kind: sqlite, directory: ${join(directory, 'own')} }
    attributes: { price: { type: integer, sort: true } }
`;
  writeFileSync(file, `${rows.join('\n')}\n`);
  writeFileSync(config, `domains:\n${domains}`);
  const env = { SERPCACHE_CONFIG: config };
  const indexed = await run(['src/cli.ts', 'index', 'bikes', file], env);
  assert.equal(indexed.code, 0, indexed.stderr);
  assert.match(indexed.stdout, /50 documents indexed for bikes/);
  const own = await startService(domains);
  try {
    const { total, results } = JSON.parse((await ask(own, 'велоприцеп', '&sort=-price&limit=1')).body);
    assert.deepEqual([total, results[0].id], [50, 'own-49']);
  } finally {
    await own.stop();
  }

  writeFileSync(file, `${rows.slice(0, 3).join('\n')}\n{"id":"x"}\n`);
  const bad = await run(['src/cli.ts', 'index', 'bikes', file], env);
  assert.equal(bad.code, 3);
  assert.match(bad.stderr, /own\.ndjson.*4.*title/s);
});

test('a wrong configuration lists every fault at once and exits 78', async () => {
  const config = join(directory, 'wrong.yaml');
  writeFileSync(config, 'memory: { maxBytes: lots }\ndomains:\n  goods: { engine: { kind: oracle } }\n');
  const { code, stderr } = await run(['src/main.ts'], { SERPCACHE_CONFIG: config });
  assert.equal(code, 78);
  assert.match(stderr, /memory\.maxBytes/);
  assert.match(stderr, /domains\.goods\.engine/);
});

test('an address that cannot be bound is named by its variable, and the service exits 78', async (context) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await onceEmitted(taken, 'listening');
  context.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const config = join(directory, 'taken.yaml');
  const engine = '{ kind: sphinx, host: 127.0.0.1, port: 1, index: goods }';
  writeFileSync(config, `domains:\n  goods: { store: { kind: none }, engine: ${engine} }\n`);
  const free = { SERPCACHE_CONFIG: config, PORT: '0', ADMIN_PORT: '0' };
  for (const [variable, value, setting, told] of [
    ['PORT', `${port}`, 'public.port', `${port} is taken by another process on 127.0.0.1`],
    ['ADMIN_PORT', `${port}`, 'admin.port', `${port} is taken by another process on 127.0.0.1`],
    ['HOST', '192.0.2.1', 'public.host', '192.0.2.1 is no address of this machine'],
  ] as const) {
    const { code, stderr } = await run(['src/main.ts'], { ...free, [variable]: value });
    assert.equal(code, 78, stderr);
    assert.ok(stderr.includes(`  ${variable} (${setting}): ${told}; allowed: `), stderr);
  }
});

function run(args: readonly string[], env: Record<string, string>) {
  const cwd = join(import.meta.dirname, '../..');
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [...args], { cwd, env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
  });
}

function once(url: string, agent: Agent): Promise<{ status?: number; code?: string }> {
  return new Promise((resolve) => {
    const request = get(url, { agent }, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0 }));
      response.on('error', (error: NodeJS.ErrnoException) => resolve({ code: error.code ?? error.message }));
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isUnread = request.reusedSocket && error.code === 'ECONNRESET';
      resolve({ code: isUnread ? 'unread' : (error.code ?? error.message) });
    });
  });
}

test('one command leads from a product feed to its search page', async () => {
  const home = mkdtempSync(join(directory, 'feed-'));
  writeFileSync(
    join(home, 'feed.xml'),
    '<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item><g:id>1</g:id><g:title>Blue lamp</g:title></item></channel></rss>',
  );
  const [port = 0, adminPort = 0] = await freePorts(2);
  const running = await startProcess({
    name: 'serpcache',
    command: process.execPath,
    cwd: home,
    logFile: join(home, 'log'),
    args: [join(import.meta.dirname, '../../src/cli.ts'), 'init', 'shop', '--catalogue', 'feed.xml', '--serve'],
    env: { PORT: `${port}`, ADMIN_PORT: `${adminPort}` },
    ready: () => accepts(port),
  });
  try {
    // On a busy machine the service refuses searches at first.
    await until('the page of the feed', async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/search?q=lamp`);
      return answer.status === 200 && ((await answer.json()) as { readonly total: number }).total === 1;
    });
    running.signal('SIGTERM');
    await running.ended;
    assert.equal(running.exitStatus(), 0);
  } finally {
    await running.stop();
  }
});
