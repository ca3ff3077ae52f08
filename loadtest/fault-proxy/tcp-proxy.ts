import { type FaultProxy, type ProxyOptions, startRelay } from './relay.ts';

export interface TcpProxy extends FaultProxy {
  /**
   * This share (0–1) of what arrives from clients, counted in reads of the socket (so about one per request or
   * batch), resets its connection instead of passing. toxiproxy's `toxicity` is drawn once per connection, and
   * serpcache's connections live for ever.
   */
  readonly reset: (share: number) => void;
}

interface TcpProxyOptions extends ProxyOptions {
  /** For `reset`. Default Math.random. */
  readonly random?: () => number;
}

/** A plain proxy before any server on loopback. When that server is away, clients are accepted and then reset. */
export async function startTcpProxy({ random = Math.random, ...options }: TcpProxyOptions): Promise<TcpProxy> {
  let share = 0;
  const proxy = await startRelay({
    ...options,
    createSession: (wire) => ({
      fromClient: (bytes) => {
        if (share > 0 && random() < share) wire.reset();
        else wire.toServer(bytes);
      },
      fromServer: wire.toClient,
    }),
  });
  return {
    ...proxy,
    reset: (next) => {
      share = next;
    },
  };
}
