import { join } from 'node:path';
import { createDnsNames, type DnsNames } from '../../loadtest/proxy/dns-names.ts';
import type { EngineLevers } from '../../loadtest/proxy/engine-middle.ts';
import { type EngineProxy, startEngineProxy } from '../../loadtest/proxy/engine-proxy.ts';
import { startStandalone } from '../../loadtest/stack/redis.ts';
import { SPHINX } from '../../loadtest/stack/sphinx.ts';
import { createClient } from '../../loadtest/traffic/client.ts';
import { type Queries, queriesOf } from '../../loadtest/traffic/queries.ts';
import { type Changes, configurationOf, HUNG_MS } from './configuration.ts';
import { type EngineServer, type EngineServerOptions, startEngineServer } from './engine-server.ts';
import { isReady, onGround, someGoods } from './ground.ts';
import { harmOf } from './judge.ts';
import type { ServiceProcess } from './process.ts';
import { createReference, type Reference } from './reference.ts';
import type { Row } from './row.ts';
import { type StoreKind, type SubjectStore, startStore } from './stores.ts';
import { type Verdict, verdictOf } from './verdict.ts';

/**
 * What every row runs on: the subject, whose store and engine are hurt, and the control, which has a store and an engine
 * of its own over the same documents and is fed the same stream. Built once; `prepare` gives each row the same start.
 */
export interface Bed {
  readonly subject: ServiceProcess;
  readonly control: ServiceProcess;
  /** The subject's, as the row wants it. */
  readonly store: () => SubjectStore;
  /** Names of stores, as the subject resolves them. */
  readonly names: DnsNames;
  /** The subject's searchd, behind `engineProxy`. */
  readonly engine: EngineServer;
  readonly engineProxy: EngineProxy;
  readonly queries: Queries;
  /** The next search nobody ever asked. */
  readonly once: () => string;
  readonly reference: Reference;
  /**
   * An empty store, both processes with the row's configuration, and every repeated search asked once of both.
   * @throws WarmUpError when one gets no page or a wrong one.
   */
  readonly prepare: (row: Row) => Promise<void>;
  /** Starts the subject again as the row began it, on the same ports. */
  readonly restartSubject: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface BedOptions {
  /** The checkout that is tested. */
  readonly checkout: string;
  /** How many searches are repeated. */
  readonly repeated: number;
  readonly documents: number;
  /** Of both searchds. */
  readonly layout: EngineServerOptions['layout'];
  /** Sphinx when absent. */
  readonly server?: EngineServerOptions['server'];
}

export function startBed({ checkout, repeated, documents, layout, server = SPHINX }: BedOptions): Promise<Bed> {
  return onGround('faults', async ({ directory, keep, services, stop }) => {
    const goods = someGoods(documents);
    const startEngine = async (name: string): Promise<EngineServer> =>
      keep(await startEngineServer({ directory: join(directory, name), ...goods, layout, server }));
    const engine = await startEngine('engine');
    const witness = await startEngine('witness');
    const engineProxy = keep(await startEngineProxy({ target: { host: '127.0.0.1', port: engine.port } }));
    const controlStore = keep(await startStandalone({ flavour: 'redis' }));

    const names = createDnsNames(directory);
    const options = { checkout, nodeOptions: names.nodeOptions };
    const [subject, control] = await services(['subject', 'control'], options);
    if (subject === undefined || control === undefined) throw new Error('two processes are wanted');

    const queries = queriesOf(goods.documents, repeated);
    const reference = createReference();
    let asked = 0;
    let store: { readonly kind: StoreKind; readonly part: SubjectStore; spoilt: boolean } | undefined;
    const storeOf = async (row: Row): Promise<SubjectStore> => {
      const kind = row.store ?? 'cluster';
      const usable = store?.kind === kind && !store.spoilt && (await isClean(store.part));
      if (!usable) {
        await store?.part.stop();
        store = { kind, part: await startStore(kind, names), spoilt: false };
      }
      if (store === undefined) throw new Error('no store');
      if (row.spoilsStore === true) store.spoilt = true;
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
      once: () => queries.once(asked++),
      reference,
      prepare: async (row) => {
        await subject.stop();
        // A row that was given up half-way took nothing back.
        engine.resume();
        await engine.start();
        await engine.agent?.refuse(false);
        engineProxy.set(NO_LEVERS);
        engineProxy.maxedOut(false);
        await engineProxy.refuse(false);
        const own = await storeOf(row);
        const changes: Changes = row.changes ?? {};
        const controlConfig = configurationOf(
          {
            store: { kind: 'standalone', nodes: controlStore.nodes.map(({ host, port }) => ({ host, port })) },
            engine: { kind: server.dialect, host: '127.0.0.1', port: witness.port },
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
        const mirrors = row.mirrored === true ? { mirrors: [`127.0.0.1:${witness.port}`] } : {};
        await subject.start(
          configurationOf(
            {
              store: { kind: own.kind, nodes: own.addresses },
              engine: { kind: server.dialect, host: engineProxy.host, port: engineProxy.port },
            },
            { ...changes, engine: { ...changes.engine, ...mirrors } },
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

/** An engine proxy that only counts. */
export const NO_LEVERS: EngineLevers = { delayMs: 0, capacity: Number.POSITIVE_INFINITY, multiply: 1, fail: undefined };

const AT_ONCE = 6;

/** A process that was asked everything once did not answer everything as it should. */
export class WarmUpError extends Error {
  override readonly name = 'WarmUpError';
  /** Counts against the subject although the row has not begun. */
  readonly harm: readonly string[];

  constructor(message: string, harm: readonly string[]) {
    super(message);
    this.harm = harm;
  }
}

/** Once ready, every text once. @param note what the answer says against the process. @throws WarmUpError */
async function askAll(
  service: ServiceProcess,
  texts: readonly string[],
  note: (answer: { readonly text: string; readonly verdict: Verdict }) => readonly string[],
): Promise<void> {
  await isReady(service);
  const client = createClient({ baseUrl: service.url, boundMs: HUNG_MS, maxConnections: AT_ONCE });
  const rest = texts.values();
  let asked = 0;
  const worker = async (): Promise<void> => {
    for (const text of rest) {
      const verdict = verdictOf(await client.get(targetOf(text), personOf(asked++)), text);
      const harm = note({ text, verdict });
      if (verdict.kind !== 'page' || harm.length > 0) {
        throw new WarmUpError(`warm-up: ${text}: ${JSON.stringify(verdict)}`, harm);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  } finally {
    client.close();
  }
}

/** The stream is many people, for a service that believes its proxy. */
export function personOf(arrival: number): Readonly<Record<string, string>> {
  return { 'x-forwarded-for': `10.0.${(arrival >> 8) & 255}.${arrival & 255}` };
}

export function targetOf(text: string): string {
  return `/search?q=${encodeURIComponent(text)}`;
}
