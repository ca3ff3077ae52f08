import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { parse } from 'yaml';
import { freePorts, startProcess } from '../../loadtest/stack/process.ts';
import { loadSettings } from '../../src/config/load.ts';
import { pluck } from '../pluck.ts';

const root = join(import.meta.dirname, '..', '..');
const home = join(root, 'deploy', 'compose');
const dockerfile = readFileSync(join(root, 'deploy/docker/Dockerfile'), 'utf8');
const stages = [...dockerfile.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name);

interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly target: string };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly networks?: readonly string[] | Readonly<Record<string, { readonly ipv4_address?: string } | null>>;
  readonly network_mode?: string;
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly tmpfs?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly pids_limit?: number;
  readonly mem_limit?: string;
  readonly privileged?: boolean;
  readonly restart?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
}

const composeText = readFileSync(join(home, 'compose.yaml'), 'utf8');
const compose = parse(composeText, { merge: true }) as {
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(compose.services);

test('everything that the Dockerfile copies exists and is sent to the builder', () => {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
  assert.ok(copies.includes('src'));
  for (const name of copies) {
    assert.ok(existsSync(join(root, name)), `there is no ${name}`);
    assert.ok(ignored.includes(`!${name}`), `.dockerignore excludes ${name} from the build`);
  }
});

test('the image runs node directly, as an unprivileged user, with a health check', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  const command = /^CMD \["node", "([^"]+)"\]$/m.exec(last)?.[1];
  assert.ok(command !== undefined && existsSync(join(root, command)), `CMD runs ${command}`);
  assert.match(last, /^USER 1000:1000$/m);
  assert.match(last, /^STOPSIGNAL SIGTERM$/m);
  assert.match(last, /^HEALTHCHECK [\s\S]*\/healthz/m);
});

test('every service of the compose file is built from existing files', () => {
  for (const [name, service] of services) {
    assert.ok(service.image !== undefined, `${name} has no image`);
    if (service.build !== undefined) {
      assert.equal(join(home, service.build.context), root);
      assert.ok(existsSync(join(root, service.build.dockerfile)), name);
      assert.ok(stages.includes(service.build.target), `${name}: no stage ${service.build.target}`);
    }
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':');
      if (source.startsWith('.')) assert.ok(existsSync(join(home, source)), `${name}: there is no ${source}`);
      else if (!source.startsWith('/')) assert.ok(source in compose.volumes, `${name}: no volume ${source}`);
    }
  }
});

test('configuration files named in commands are mounted at these paths', () => {
  for (const [name, service] of services) {
    const mounts = [
      ...(service.volumes ?? []).map((volume) => volume.split(':')[1] ?? volume),
      ...(service.tmpfs ?? []),
    ];
    const targets = mounts.map((mount) => mount.split(':')[0]);
    for (const word of (service.command ?? []).flatMap((words) => words.split(/\s+/))) {
      if (!/^\/\S+\.(conf|yaml)$/.test(word)) continue;
      assert.ok(
        targets.some((target) => word === target || word.startsWith(`${target}/`)),
        `${name}: ${word} is not mounted`,
      );
    }
  }
});

test('a service waits only for services above it, with a condition that can become true', () => {
  const names = services.map(([name]) => name);
  for (const [name, service] of services) {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const target = compose.services[other];
      // `npm run deploy:check` starts them in the order of the file.
      assert.ok(names.indexOf(other) < names.indexOf(name), `${name} stands above ${other}`);
      assert.ok(target !== undefined, `${name} waits for ${other}`);
      if (condition === 'service_healthy') assert.ok(target.healthcheck !== undefined, `${other} has no health check`);
      // A step that is always restarted never completes.
      if (condition === 'service_completed_successfully') assert.equal(target.restart, undefined, other);
    }
  }
});

test('serpcache gets the addresses of the nodes, and the steps that make the clusters name all of them', () => {
  const settings = loadSettings({
    env: { SERPCACHE_CONFIG: join(home, 'serpcache.yaml'), ADMIN_TOKEN: 'a-token-of-mine-alone', STORE_PASSWORD: 'p' },
    cwd: root,
  });
  for (const { name, store, engine } of settings.domains) {
    const fixed = services.flatMap(([service, { networks }]) =>
      service.startsWith(`${name}-`) && networks !== undefined && 'stack' in networks
        ? [networks['stack']?.ipv4_address]
        : [],
    );
    assert.ok(store.kind === 'cluster');
    assert.deepEqual(pluck(store.nodes, 'host'), fixed);
    const create = compose.services[`${name}-cluster`]?.command?.at(-1) ?? '';
    for (const address of fixed)
      assert.ok(create.includes(`${address}:6379`), `${name}-cluster does not name ${address}`);
    assert.ok(engine.kind === 'sphinx' && engine.endpoints[0].host in compose.services);
  }
});

test('every container is read-only, without capabilities or new privileges, as a user, with limits', () => {
  for (const [name, service] of services) {
    assert.equal(service.read_only, true, name);
    assert.deepEqual(service.cap_drop, ['ALL'], name);
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
    assert.ok((service.pids_limit ?? Number.POSITIVE_INFINITY) <= 256, name);
    assert.match(service.mem_limit ?? '', /^(512m|1g)$/, name);
    assert.equal(service.privileged, undefined, name);
    // The project's own images set their user themselves; others have these, and run as root when none is given.
    if (service.build === undefined) assert.match(service.user ?? '', /^(?:999|65534|472)$/, name);
  }
});

test('two ports are published, on loopback: the public port of serpcache and that of Grafana', () => {
  assert.deepEqual(
    services.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`)),
    ['serpcache 127.0.0.1:8080:8080', 'grafana 127.0.0.1:3000:3000'],
  );
});

test('stores and engines are in an internal network or in none; only serpcache and Grafana are also in another network', () => {
  for (const name of ['stack', 'metrics']) assert.equal(compose.networks[name]?.internal, true, name);
  const elsewhere: Readonly<Record<string, readonly string[]>> = {
    serpcache: ['front', 'stack', 'metrics'],
    prometheus: ['metrics'],
    grafana: ['view', 'metrics'],
  };
  for (const [name, { networks = [], network_mode }] of services) {
    const joined = Array.isArray(networks) ? networks : Object.keys(networks);
    const expected = elsewhere[name] ?? (network_mode === 'none' ? [] : ['stack']);
    assert.deepEqual(joined, expected, name);
  }
});

test('the admin listener binds its address in the network of Prometheus, and Prometheus asks by a name that is allowed', () => {
  const { networks, environment } = compose.services['serpcache'] ?? {};
  assert.ok(networks !== undefined && 'metrics' in networks);
  assert.equal(environment?.['ADMIN_HOST'], networks['metrics']?.ipv4_address);
  const { scrape_configs } = parse(readFileSync(join(home, 'prometheus.yaml'), 'utf8'));
  const settings = loadSettings({
    env: { SERPCACHE_CONFIG: join(home, 'serpcache.yaml'), ADMIN_TOKEN: 'a-token-of-mine-alone', STORE_PASSWORD: 'p' },
    cwd: root,
  });
  for (const target of scrape_configs[0].static_configs[0].targets) {
    const [host, port] = target.split(':');
    assert.ok(host in compose.services && settings.admin.hosts.includes(host), host);
    assert.equal(Number(port), settings.admin.port);
  }
});

test('the data source of Grafana is the Prometheus of the stack, by the name that the dashboards know', () => {
  const example = parse(readFileSync(join(root, 'deploy/grafana/provisioning/datasources/serpcache.yaml'), 'utf8'));
  const [{ uid, url }] = parse(readFileSync(join(home, 'datasources.yaml'), 'utf8')).datasources;
  assert.equal(uid, example.datasources[0].uid);
  assert.ok(new URL(url).hostname in compose.services, url);
});

test('serpcache has time to drain and to close its parts', () => {
  const { drainMs } = loadSettings({ env: {}, cwd: root }).public;
  const grace = compose.services['serpcache']?.stop_grace_period ?? '10s';
  assert.ok(Number(/^(\d+)s$/.exec(grace)?.[1]) * 1000 >= 2 * drainMs, grace);
});

test('every secret comes from the environment, without a default', () => {
  const secret = /(?:TOKEN|PASSWORD|AUTH)$/;
  for (const [name, { environment = {} }] of services) {
    for (const [variable, value] of Object.entries(environment)) {
      if (secret.test(variable))
        assert.match(value, /^\$\{(?:ADMIN_TOKEN|STORE_PASSWORD|GRAFANA_PASSWORD):\?[^}]*\}$/, `${name}: ${variable}`);
    }
  }
  for (const [, name, rest] of composeText.matchAll(/\$\{([A-Z_]+)([^}]*)\}/g)) {
    if (secret.test(name ?? '')) assert.match(rest ?? '', /^:\?/, `${name}`);
  }
  for (const node of ['goods-1', 'auto-1', 'goods-cluster', 'auto-cluster']) {
    assert.ok(compose.services[node]?.environment?.['REDISCLI_AUTH'] !== undefined, node);
  }
});

/** Settings of a server that loses nothing but a cache, and never stops to save or to free memory. */
const CACHE = {
  save: '',
  appendonly: 'no',
  'rdb-del-sync-files': 'yes',
  'maxmemory-policy': 'allkeys-lru',
  'lazyfree-lazy-eviction': 'yes',
  'lazyfree-lazy-user-flush': 'yes',
  'latency-monitor-threshold': '50',
  'cluster-enabled': 'yes',
  'cluster-require-full-coverage': 'no',
  'protected-mode': 'yes',
};

for (const [node, program] of [
  ['goods-1', 'redis'],
  ['auto-1', 'valkey'],
] as const) {
  test(`the command of ${node} starts a ${program} that is a pure cache, requires the password and does not show it`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'serpcache-node-'));
    const [port = 0] = await freePorts(1);
    const service = compose.services[node];
    // The command as Compose runs it, with the paths of this machine.
    const here = (text: string): string =>
      text
        .replaceAll('$$', '$')
        .replaceAll('/run/node', folder)
        .replace('/etc/serpcache/cache.conf', join(root, 'deploy', 'redis', `${program}-cache.conf`))
        .replace('/etc/serpcache/cluster.conf', join(root, 'deploy', 'redis', 'cluster.conf'))
        .replace('--bind 0.0.0.0', `--bind 127.0.0.1 --port ${port}`)
        .replace(/^(redis|valkey)-cli/, `$&  -p ${port}`);
    const password = 'only-for-this-test';
    const env = { REDISCLI_AUTH: password };
    const probe = here(service?.healthcheck?.test[1] ?? '');
    const isHealthy = (given: Record<string, string>): boolean =>
      spawnSync('sh', ['-c', probe], { env: { PATH: process.env['PATH'], ...given } }).status === 0;
    const [command = '', ...args] = (service?.command ?? []).map(here);
    const server = await startProcess({
      name: node,
      command,
      args,
      cwd: folder,
      logFile: join(folder, 'log'),
      env,
      ready: async () => isHealthy(env),
    });
    t.after(async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    assert.equal(isHealthy({}), false);
    assert.equal(isHealthy({ REDISCLI_AUTH: 'another' }), false);
    const arguments_ = readFileSync(`/proc/${server.pid}/cmdline`, 'utf8');
    assert.match(arguments_, new RegExp(`^${program}-server `));
    assert.ok(!arguments_.includes(password));
    assert.equal(statSync(join(folder, 'password.conf')).mode & 0o777, 0o600);
    const client = new Redis({ port, password, lazyConnect: true, retryStrategy: null });
    client.on('error', () => {}); // the commands reject with the same error
    t.after(() => client.disconnect());
    await client.connect();
    for (const [name, value] of Object.entries(CACHE))
      assert.deepEqual(await client.config('GET', name), [name, value]);
  });
}
