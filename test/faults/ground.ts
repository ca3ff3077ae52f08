import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../loadtest/stack/process.ts';
import { until } from '../../loadtest/stack/redis.ts';
import { DEMO_DOMAINS, demoDocuments } from '../../src/catalogue/demo.ts';
import type { Document, SearchDomain } from '../../src/search/domain.ts';
import { createServiceProcess, type ServiceProcess } from './process.ts';

/** What every bed stands on: a folder, and parts that end with it, the last one first. */
export interface Ground {
  readonly directory: string;
  /** The part is stopped with the ground. */
  readonly keep: <T extends { readonly stop: () => Promise<void> }>(part: T) => T;
  /** Processes that are not started yet, each with a folder and two ports of its own. */
  readonly services: (names: readonly string[], options: ServicesOptions) => Promise<readonly ServiceProcess[]>;
  readonly stop: () => Promise<void>;
}

export interface ServicesOptions {
  readonly checkout: string;
  readonly nodeOptions?: string;
}

/** Builds a bed on new ground; when that fails nothing of it stays. */
export async function onGround<T>(name: string, build: (ground: Ground) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), `serpcache-${name}-`));
  const ends: (() => Promise<void>)[] = [async () => rmSync(directory, { recursive: true, force: true })];
  const keep: Ground['keep'] = (part) => {
    ends.push(part.stop);
    return part;
  };
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end().catch(() => undefined);
  };
  const services: Ground['services'] = async (names, { checkout, nodeOptions = '' }) => {
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

/** The first ads of the demo's goods. */
export function someGoods(count: number): { readonly domain: SearchDomain; readonly documents: readonly Document[] } {
  const domain = DEMO_DOMAINS.find(({ name }) => name === 'goods');
  if (domain === undefined) throw new Error('the demo has no goods');
  return { domain: { ...domain, answerProfile: '' }, documents: [...demoDocuments('goods').take(count)] };
}

export async function isReady({ url }: ServiceProcess): Promise<void> {
  const answers = async (): Promise<boolean> => (await (await fetch(`${url}/readyz`)).text()).includes('"ready"');
  await until(`${url} to be ready`, answers, 20_000);
}
