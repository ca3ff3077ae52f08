import type { Socket } from 'node:net';

/**
 * RST, so that the other side cannot take it for an orderly end. A socket whose own end is still on its way out is closed
 * instead: node 24 fails to reset that one (EINVAL), never closes its handle, and the process never ends.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
