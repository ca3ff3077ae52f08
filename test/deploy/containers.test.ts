import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { loadSettings } from '../../src/config/load.ts';

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
  readonly networks?: readonly string[] | { readonly stack: { readonly ipv4_address: string } };
  readonly restart?: string;
  readonly healthcheck?: object;
}

const compose = parse(readFileSync(join(home, 'compose.yaml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(compose.services);

test('everything the Dockerfile copies is there, and the builder is sent it', () => {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
  assert.ok(copies.includes('src'));
  for (const name of copies) {
    assert.ok(existsSync(join(root, name)), `there is no ${name}`);
    assert.ok(ignored.includes(`!${name}`), `.dockerignore keeps ${name} from the builder`);
  }
});

test('the image runs node itself, as a user without rights, and asks its own health', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  const command = /^CMD \["node", "([^"]+)"\]$/m.exec(last)?.[1];
  assert.ok(command !== undefined && existsSync(join(root, command)), `CMD runs ${command}`);
  assert.match(last, /^USER 1000:1000$/m);
  assert.match(last, /^STOPSIGNAL SIGTERM$/m);
  assert.match(last, /^HEALTHCHECK [\s\S]*\/healthz/m);
});

test('every service of the compose file is built or started from what exists', () => {
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

test('configurations named in commands are mounted where the command looks', () => {
  for (const [name, service] of services) {
    const targets = (service.volumes ?? []).map((volume) => volume.split(':')[1] ?? volume);
    for (const word of service.command ?? []) {
      if (!/^\/\S+\.(conf|yaml)$/.test(word)) continue;
      assert.ok(
        targets.some((target) => word === target || word.startsWith(`${target}/`)),
        `${name}: ${word} is not mounted`,
      );
    }
  }
});

test('a service waits only for services there are, in a way that can come true', () => {
  for (const [name, service] of services) {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const target = compose.services[other];
      assert.ok(target !== undefined, `${name} waits for ${other}`);
      if (condition === 'service_healthy') assert.ok(target.healthcheck !== undefined, `${other} has no health check`);
      // A step that is restarted for ever never completes.
      if (condition === 'service_completed_successfully') assert.equal(target.restart, undefined, other);
    }
  }
});

test('the addresses serpcache is given are those of the nodes, and the steps that make the clusters name them all', () => {
  const settings = loadSettings({
    env: { SERPCACHE_CONFIG: join(home, 'serpcache.yaml'), ADMIN_TOKEN: 'a-token-of-mine-alone' },
    cwd: root,
  });
  for (const { name, store, engine } of settings.domains) {
    const fixed = services.flatMap(([service, { networks }]) =>
      service.startsWith(`${name}-`) && networks !== undefined && 'stack' in networks
        ? [networks.stack.ipv4_address]
        : [],
    );
    assert.ok(store.kind === 'cluster');
    assert.deepEqual(
      store.nodes.map(({ host }) => host),
      fixed,
    );
    const create = compose.services[`${name}-cluster`]?.command?.at(-1) ?? '';
    for (const address of fixed) assert.ok(create.includes(`${address}:6379`), `${name}-cluster forgets ${address}`);
    assert.ok(engine.kind === 'sphinx' && engine.endpoints[0].host in compose.services);
  }
});
