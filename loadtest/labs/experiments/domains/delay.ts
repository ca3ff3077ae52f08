import { startRelay } from '../../../fault-proxy/relay.ts';
import type { Lab } from '../../kit/lab.ts';

/** What a timer of Node can do at least; between racks it is half of it, between data centres more. */
export const ADDED_RTT_MS = 1;

/**
 * A relay before a store that hands on each reply a round trip later; to who waits for a reply before the next command,
 * that is what a network is. Not netem: it asks for root, and for a module that kernels of small virtual machines may not
 * have. A relay costs processor time, but with three clients that wait a
 * millisecond at a time no processor is near full.
 */
export async function startDelay(
  lab: Lab,
  target: { readonly host: string; readonly port: number },
): Promise<{ readonly host: string; readonly port: number }> {
  const relay = await startRelay({
    target: { host: target.host, port: target.port },
    createSession: (wire) => ({
      fromClient: wire.toServer,
      // Timers of one duration fire in the order in which they were set: replies stay in order.
      fromServer: (bytes) => setTimeout(wire.toClient, ADDED_RTT_MS, Buffer.from(bytes)),
    }),
  });
  lab.atEnd(relay.stop);
  return relay;
}
