import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDnsNames } from '../../loadtest/fault-proxy/dns-names.ts';
import { NO_ENGINE_FAULT, startEngineProxy } from '../../loadtest/fault-proxy/engine-proxy.ts';
import { createClient } from '../../loadtest/http-driver/client.ts';
import { closedLoop } from '../../loadtest/http-driver/loops.ts';
import { freePorts } from '../../loadtest/stack/process.ts';
import { startStandalone } from '../../loadtest/stack/redis.ts';
import { SPHINX, sampleGoods } from '../../loadtest/stack/sphinx.ts';
import { queriesOf } from '../../loadtest/traffic/queries.ts';
import { until } from '../until.ts';
import { type Changes, configurationOf, HUNG_MS } from './configuration.ts';
import { type EngineServer, type EngineServerOptions, startEngineServer } from './engine-server.ts';
import { harmOf } from './judge.ts';
import { type Harness, type Row, WarmUpError } from './row.ts';
import { createServiceProcess, type ServiceProcess } from './service.ts';
import { type StoreKind, type SubjectStore, startStore } from './stores.ts';
import { createReference, type ReplyVerdict, verdictOf } from './verdict.ts';

interface HarnessOptions {
  /** The checkout under test. */
  readonly checkout: string;
  /** Number of searches that are asked repeatedly. */
  readonly repeated: number;
  readonly documents: number;
  /** Index layout of both searchds. */
  readonly layout: EngineServerOptions['layout'];
  /** Default: Sphinx. */
  readonly server?: EngineServerOptions['server'];
}

export function startHarness({
  checkout,
  repeated,
  documents,
  layout,
  server = SPHINX,
}: HarnessOptions): Promise<Harness> {
  return buildWithResources('faults', async ({ directory, keep, services, stop }) => {
    const goods = sampleGoods(documents);
    const startEngine = async (name: string): Promise<EngineServer> =>
      keep(await startEngineServer({ directory: join(directory, name), ...goods, layout, server }));
    const engine = await startEngine('engine');
    const controlEngine = await startEngine('control-engine');
    const engineProxy = keep(await startEngineProxy({ target: { host: '127.0.0.1', port: engine.port } }));
    const controlStore = keep(await startStandalone({ flavour: 'redis' }));

    const names = createDnsNames(directory);
    const options = { checkout, nodeOptions: names.nodeOptions };
    const [subject, control] = await services(['subject', 'control'], options);
    if (subject === undefined || control === undefined) throw new Error('two processes are wanted');

    const queries = queriesOf(goods.documents, repeated);
    const reference = createReference();
    let asked = 0;
    let store: { readonly kind: StoreKind; readonly part: SubjectStore; discarded: boolean } | undefined;
    const storeFor = async (row: Row): Promise<SubjectStore> => {
      const kind = row.store ?? 'cluster';
      const isUsable = store?.kind === kind && !store.discarded && (await isClean(store.part));
      if (!isUsable) {
        await store?.part.stop();
        store = { kind, part: await startStore(kind, names), discarded: false };
      }
      if (store === undefined) throw new Error('no store');
      if (row.discardStore === true) store.discarded = true;
      return store.part;
    };
    keep({ stop: async () => store?.part.stop() });

    return {
      subject,
      control,
      store: () => {
        if (store === undefined) throw new Error('no row is prepared');
        return store.part;
      },
      names,
      engine,
      engineProxy,
      queries,
      newSearch: () => queries.once(asked++),
      reference,
      prepare: async (row) => {
        await subject.stop();
        // An aborted row has not removed its fault.
        engine.resume();
        await engine.start();
        await engine.agent?.refuse(false);
        engineProxy.set(NO_ENGINE_FAULT);
        engineProxy.maxedOut(false);
        await engineProxy.refuse(false);
        const own = await storeFor(row);
        const changes: Changes = row.changes ?? {};
        const controlConfig = configurationOf(
          {
            store: { kind: 'standalone', nodes: controlStore.nodes.map(({ host, port }) => ({ host, port })) },
            engine: { kind: server.dialect, host: '127.0.0.1', port: controlEngine.port },
          },
          changes,
        );
        if (control.config() !== controlConfig) {
          for (const node of controlStore.nodes) await node.command('FLUSHALL');
          await control.start(controlConfig);
          await askAll(control, queries.repeated, ({ text, verdict }) => {
            reference.learn(text, verdict);
            return [];
          });
        }
        const mirrors = row.mirrored === true ? [`127.0.0.1:${controlEngine.port}`] : undefined;
        await subject.start(
          configurationOf(
            {
              store: { kind: own.kind, nodes: own.addresses },
              candidate: own.shadowed?.candidate.addresses,
              control: own.control ?? own.shadowed?.control,
              engine: { kind: server.dialect, host: engineProxy.host, port: engineProxy.port },
            },
            { ...changes, engine: { ...changes.engine, mirrors } },
          ),
        );
        await askAll(subject, queries.repeated, ({ text, verdict }) => {
          const wrong = reference.agrees(text, verdict) === false ? [`${text} in the warm-up`] : [];
          const dishonest = verdict.kind === 'dishonest' ? [`${text}: ${verdict.why}`] : [];
          return harmOf({ wrong, hung: verdict.kind === 'hung' ? 1 : 0, dishonest });
        });
      },
      restartSubject: () => subject.start(subject.config() ?? ''),
      stop,
    };
  });
}

async function isClean(store: SubjectStore): Promise<boolean> {
  return store.clean().then(
    () => true,
    () => false,
  );
}

const AT_ONCE = 6;
/** A busy machine refuses a search of the warm-up; it is asked again after this time. */
const AGAIN_AFTER_MS = 250;

/**
 * Waits until the process is ready and asks every text once.
 * @param note receives each answer and returns the violations it shows.
 * @throws WarmUpError
 */
export async function askAll(
  service: ServiceProcess,
  texts: readonly string[],
  note: (answer: { readonly text: string; readonly verdict: ReplyVerdict }) => readonly string[],
): Promise<void> {
  await waitUntilReady(service);
  const client = createClient({ baseUrl: service.url, patienceMs: HUNG_MS, maxConnections: AT_ONCE });
  let asked = 0;
  try {
    await closedLoop(texts, AT_ONCE, async (text) => {
      const ask = async () => verdictOf(await client.get(searchPath(text), clientHeaders(asked++)), text);
      let verdict = await ask();
      await until(
        `${text} of the warm-up to be served`,
        async () => {
          if (verdict.kind === 'shed') verdict = await ask();
          return verdict.kind !== 'shed';
        },
        AGAIN_AFTER_MS,
      );
      const harm = note({ text, verdict });
      if (verdict.kind !== 'page' || harm.length > 0) {
        throw new WarmUpError(`warm-up: ${text}: ${JSON.stringify(verdict)}`, harm);
      }
    });
  } finally {
    client.close();
  }
}

/** Each arrival comes from its own client address, for a service that trusts its proxy. */
export function clientHeaders(arrival: number): Readonly<Record<string, string>> {
  return { 'x-forwarded-for': `10.0.${(arrival >> 8) & 255}.${arrival & 255}` };
}

export function searchPath(text: string): string {
  return `/search?q=${encodeURIComponent(text)}`;
}

/** A temporary folder and parts that are stopped with it, the last one first. */
interface TestResources {
  readonly directory: string;
  /** Registers a part to be stopped with the others. */
  readonly keep: <T extends { readonly stop: () => Promise<void> }>(part: T) => T;
  /** Creates processes without starting them, each with its own folder and two ports. */
  readonly services: (names: readonly string[], options: ServicesOptions) => Promise<readonly ServiceProcess[]>;
  readonly stop: () => Promise<void>;
}

interface ServicesOptions {
  readonly checkout: string;
  readonly nodeOptions?: string;
}

/** Creates resources and builds a harness from them. When `build` fails, everything is stopped and removed. */
export async function buildWithResources<T>(name: string, build: (resources: TestResources) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), `serpcache-${name}-`));
  const ends: (() => Promise<void>)[] = [async () => rmSync(directory, { recursive: true, force: true })];
  const keep: TestResources['keep'] = (part) => {
    ends.push(part.stop);
    return part;
  };
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end().catch(() => undefined);
  };
  const services: TestResources['services'] = async (names, { checkout, nodeOptions = '' }) => {
    const ports = await freePorts(2 * names.length);
    return names.map((each, at) =>
      keep(
        createServiceProcess({
          name: each,
          directory: join(directory, each),
          ports: [ports[2 * at] ?? 0, ports[2 * at + 1] ?? 0],
          checkout,
          nodeOptions,
        }),
      ),
    );
  };
  try {
    return await build({ directory, keep, services, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function waitUntilReady({ url }: ServiceProcess): Promise<void> {
  const answers = async (): Promise<boolean> => (await (await fetch(`${url}/readyz`)).text()).includes('"ready"');
  await until(`${url} to be ready`, answers);
}
