import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import { createService, type Service } from '../../src/app.ts';
import { demoDocuments } from '../../src/catalogue/demo.ts';
import type { Settings } from '../../src/config/settings.ts';
import { searchDomainOf } from '../../src/engines/create-engines.ts';
import { buildIndex } from '../../src/engines/sqlite/build.ts';
import { systemClock } from '../../src/runtime.ts';

/** Builds `index/goods.sqlite` of 20 documents without attributes, for the only domain of the settings. */
export async function buildSmallIndex({ domains: [domain] }: Settings, directory: string): Promise<void> {
  if (domain === undefined) throw new Error('the settings have no domain');
  await buildIndex({
    file: join(directory, 'index', 'goods.sqlite'),
    domain: searchDomainOf(domain),
    documents: demoDocuments('goods')
      .take(20)
      .map((document) => ({ ...document, attributes: {} })),
    builtAtMs: 0,
  });
}

/** The whole service in this process, without a log unless one is given. */
export function createServiceHere(settings: Settings, log: Logger = pino({ level: 'silent' })): Promise<Service> {
  return createService({
    settings,
    log,
    droppedLines: () => 0,
    clock: systemClock,
    random: Math.random,
    version: '1.2.3',
  });
}
