import { type ProxyOptions, startRelay } from './relay.ts';

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

interface TcpProxyOptions extends ProxyOptions {
  /** For `reset`. Default Math.random. */
  readonly random?: () => number;
}

/** A plain proxy before any server on loopback. When that server is away, clients are accepted and then reset. */
export async function startTcpProxy({ random = Math.random, ...options }: TcpProxyOptions) {
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
    /**
     * This share (0–1) of what arrives from clients, counted in reads of the socket (so about one per request or
     * batch), resets its connection instead of passing.
     */
    reset: (next: number): void => {
      share = next;
    },
  };
}
