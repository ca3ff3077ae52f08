import { connect, type Socket } from 'node:net';
import { LIMIT_MS } from '../../until.ts';
import type { Served, Side } from './servers.ts';
import type { Stream } from './streams.ts';

/** Everything that the client of one stream saw, and what the server's end of the connection did. */
export interface Played {
  /** All bytes of the answers, as Latin-1 text. */
  readonly text: string;
  /** Number of these bytes before the client ended its side. */
  readonly beforeEnd: number;
  /** Chunks that were written before the connection was closed. */
  readonly written: number;
  /**
   * `server`: the server closed the connection first. `client`: it closed it after the client. `stuck`: it closed it not at
   * all.
   */
  readonly closedBy: 'server' | 'client' | 'stuck';
  /** Requests that Node's parser has read. */
  readonly requests: number;
}

/** Turns without a byte after which no answer is left, when no request is known to be pending. */
const QUIET_TURNS = 6;
/** The same, while Node has a request that is not answered: its body may be missing. */
const PENDING_TURNS = 40;
/** Least number of turns for the server to close its side after the client; the maximum time is that of every wait. */
const STUCK_TURNS = 1000;

/** One connection, moved on once in each turn of the event loop. */
interface Player {
  /** @returns whether the stream has ended. */
  readonly step: () => boolean;
  readonly played: () => Played;
}

/**
 * Sends streams to both servers, all at the same time. Both ends of each connection are in this process, so no time has to
 * pass to know that a chunk was read or that no answer is left: a chunk is written after the server has read the chunks
 * before it, and a connection is quiet when each end has read everything that the other has written.
 */
export async function play(
  streams: readonly Stream[],
  sides: readonly Side[],
): Promise<readonly (readonly Played[])[]> {
  const players = streams.map((stream) => sides.map((side) => playerOf(stream, side)));
  const left = new Set(players.flat());
  await new Promise<void>((resolve) => {
    const turn = (): void => {
      for (const player of left) if (player.step()) left.delete(player);
      if (left.size > 0) setImmediate(turn);
      else resolve();
    };
    turn();
  });
  return players.map((pair) => pair.map((player) => player.played()));
}

function playerOf(stream: Stream, side: Side): Player {
  const { chunks, pauses, ending, word } = stream;
  let served: Served | undefined;
  side.nextConnection((accepted) => {
    served = accepted;
  });
  const client: Socket = connect(side.path);
  const received: Buffer[] = [];
  let closed = false;
  client.on('data', (bytes: Buffer) => received.push(bytes));
  // A write after the server closed the connection; `close` follows.
  client.on('error', () => {});
  client.on('close', () => {
    closed = true;
  });

  let [written, writtenBytes, quietTurns, seen] = [0, 0, 0, -1];
  let [beforeEnd, endedMs, turnsAfterEnd, serverEnded] = [-1, 0, 0, false];
  client.on('end', () => {
    serverEnded = true;
  });

  const write = (): void => {
    const bytes = Buffer.from(chunks[written] ?? '', 'latin1');
    written += 1;
    writtenBytes += bytes.length;
    quietTurns = 0;
    if (bytes.length > 0) client.write(bytes);
  };

  const end = (): void => {
    beforeEnd = client.bytesRead;
    endedMs = performance.now();
    quietTurns = 0;
    client.end();
  };

  const step = (): boolean => {
    if (closed) return true;
    if (served === undefined) return false;
    const bytes = served.socket.bytesRead + served.socket.bytesWritten + client.bytesRead;
    quietTurns = bytes === seen && client.bytesRead === served.socket.bytesWritten ? quietTurns + 1 : 0;
    seen = bytes;
    if (serverEnded) return false;
    const wasRead = served.socket.bytesRead === writtenBytes;
    const quiet = quietTurns >= (served.pending > 0 || !wasRead ? PENDING_TURNS : QUIET_TURNS);
    if (written < chunks.length) {
      const pause = written === 0 ? 0 : (pauses[written - 1] ?? 0);
      if (wasRead && quietTurns >= pause) write();
      // A server that waits for an answer may not read meanwhile.
      else if (quiet && side.release(word) === 0) write();
      return false;
    }
    if (beforeEnd < 0) {
      if (ending === 'early' ? wasRead || quiet : quiet && side.release(word) === 0) end();
      return false;
    }
    if (quiet) side.release(word);
    turnsAfterEnd += 1;
    if (turnsAfterEnd > STUCK_TURNS && performance.now() - endedMs > LIMIT_MS) client.destroy();
    return false;
  };

  return {
    step,
    played: () => ({
      text: Buffer.concat(received).toString('latin1'),
      beforeEnd: beforeEnd < 0 ? client.bytesRead : beforeEnd,
      written,
      closedBy: beforeEnd < 0 ? 'server' : serverEnded || client.errored !== null ? 'client' : 'stuck',
      requests: served?.requests ?? 0,
    }),
  };
}
