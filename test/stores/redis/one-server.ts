import { after, afterEach, before, beforeEach } from 'node:test';
import { type RedisStack, startStandalone } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import type { StoreConnection } from '../../../src/config/settings.ts';
import { connected, type OpenStore, openStore, standaloneOf } from './open.ts';

export interface OneServer extends OpenStore {
  readonly stack: RedisStack;
  readonly server: RedisNode;
}

/**
 * One real server for all tests of the surrounding `describe`, to be hurt and healed; emptied before each of them, and
 * with a new store on it, connected. @param begin what each test begins with
 */
export function onOneServer(
  connection: Partial<StoreConnection>,
  begin: (given: OneServer) => Promise<void> | void,
): void {
  let stack: RedisStack | undefined;
  let opened: OpenStore | undefined;
  before(async () => {
    stack = await startStandalone({ flavour: 'redis' });
  });
  after(async () => {
    await stack?.stop();
  });
  beforeEach(async () => {
    const [server] = stack?.nodes ?? [];
    if (stack === undefined || server === undefined) throw new Error('there is no server');
    await server.command('FLUSHALL');
    opened = openStore(standaloneOf(stack, connection));
    await connected(opened.store, 1);
    await begin({ stack, server, ...opened });
  });
  afterEach(async () => {
    await opened?.store.close();
  });
}
