import type { Connection, Idle } from './connection.ts';

export interface ClosedLoopOptions {
  readonly connection: Connection;
  /** One batch. */
  readonly send: () => void;
  /** Batches of one connection, before it is closed and another opened; absent: kept. */
  readonly most?: number;
  /** Batches the connection had before the time began: 0 unless said. */
  readonly sentBefore?: number;
}

/** Where nothing answers, as fast as possible would be a storm of our own. */
const PAUSE_MS = 100;

/** Closed loop: the next batch goes out when the last one was answered, or lost. */
export function closedLoop({ connection, send, most = Number.POSITIVE_INFINITY, sentBefore = 0 }: ClosedLoopOptions) {
  let [onThis, isOver] = [sentBefore, false];
  const again = (): void => {
    if (isOver) return;
    if (onThis >= most) {
      connection.close();
      onThis = 0;
    }
    onThis += 1;
    send();
  };
  return {
    start: again,
    end: (): void => {
      isOver = true;
    },
    onIdle: (why: Idle): void => {
      if (why !== 'answered') onThis = 0;
      if (why === 'unopened') setTimeout(again, PAUSE_MS);
      else again();
    },
  };
}
