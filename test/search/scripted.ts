import type { Store, StoreRead } from '../../src/cache/store.ts';
import type { Engine, ResultPage } from '../../src/search/engine.ts';
import type { FakeClock } from '../fakes/clock.ts';
import { createFakeFleet, createFakeLeases, type FakeLeases } from '../fakes/store.ts';

export interface ScriptedEngine extends Engine {
  readonly asked: string[];
  /** What the next searches do; by default a page with the text as its only title. */
  answer: (text: string, signal: AbortSignal) => Promise<ResultPage>;
}

export interface ScriptedStore extends Store {
  readonly leases: FakeLeases;
  readonly values: Map<string, Buffer>;
  readonly reads: string[];
  fault: Extract<StoreRead, { kind: 'fault' }> | undefined;
}

export function scriptedEngine(): ScriptedEngine {
  const asked: string[] = [];
  const engine: ScriptedEngine = {
    asked,
    answer: async (text) => pageOf(text),
    abortEndsWork: true,
    search: async (request, signal) => {
      asked.push(request.text);
      return engine.answer(request.text, signal);
    },
    probe: async () => undefined,
    close: async () => undefined,
  };
  return engine;
}

export function pageOf(title: string, partial?: string): ResultPage {
  const result = { id: title, title, snippet: title, score: 1, attributes: {} };
  return {
    total: 1,
    totalRelation: 'eq',
    results: [result],
    facets: {},
    ...(partial === undefined ? {} : { partial }),
  };
}

export const EMPTY_PAGE: ResultPage = { total: 0, totalRelation: 'eq', results: [], facets: {} };

export function scriptedStore(clock: FakeClock): ScriptedStore {
  const values = new Map<string, Buffer>();
  const reads: string[] = [];
  const fault = () => store.fault?.fault;
  const store: ScriptedStore = {
    ...createFakeFleet(values, clock, 'memory:0', fault),
    leases: createFakeLeases(values, clock, fault),
    values,
    reads,
    fault: undefined,
    read: async (name) => {
      reads.push(name);
      if (store.fault !== undefined) return store.fault;
      const value = values.get(name);
      return value === undefined ? { kind: 'absent' } : { kind: 'value', value: Buffer.from(value) };
    },
    readMany: (names, deadlineMs) => Promise.all(names.map((name) => store.read(name, deadlineMs))),
    write: async (name, value) => {
      if (store.fault !== undefined) return { kind: 'dropped', fault: store.fault.fault };
      values.set(name, Buffer.from(value));
      return { kind: 'stored' };
    },
    locate: () => ({}),
    nodes: () => [],
    close: async () => undefined,
  };
  return store;
}
