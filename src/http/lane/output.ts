import type { Socket } from 'node:net';

const SCRATCH_BYTES = 64 * 1024;
/** Larger bodies are written from where they are; copying them would take longer than a second part of the write. */
const COPIED_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/** The answers of one turn for one socket, written together. All connections share one, because a turn serves one of them. */
export interface Output {
  /** @param own the text between both parts of a shared head; ASCII. */
  readonly append: (before: Buffer, own: string, after: Buffer, body: Buffer | undefined) => void;
  readonly appendText: (head: string, body: Buffer | undefined) => void;
  /** Bytes that `write` would write. */
  readonly length: () => number;
  /** Forgets what was appended. */
  readonly drop: () => void;
  /** @returns false when the kernel has not taken all bytes. */
  readonly write: (socket: Socket) => boolean;
}

export function createOutput(hold: (socket: Socket, bytes: number) => () => void): Output {
  let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  let [used, total] = [0, 0];
  /** Everything that was appended before the present contents of `scratch`. */
  let parts: Buffer[] = [];

  const room = (bytes: number): void => {
    if (scratch.length - used >= bytes) return;
    setAside();
    if (bytes > scratch.length) scratch = Buffer.allocUnsafeSlow(bytes);
  };
  const setAside = (): void => {
    if (used === 0) return;
    parts.push(scratch.subarray(0, used));
    scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
    used = 0;
  };
  const appendBody = (body: Buffer | undefined): void => {
    if (body === undefined) return;
    if (body.length > COPIED_BYTES) {
      setAside();
      parts.push(body);
    } else {
      room(body.length);
      scratch.set(body, used);
      used += body.length;
    }
    total += body.length;
  };

  return {
    append: (before, own, after, body) => {
      const bytes = before.length + own.length + after.length;
      room(bytes);
      scratch.set(before, used);
      scratch.write(own, used + before.length, 'latin1');
      scratch.set(after, used + before.length + own.length);
      used += bytes;
      total += bytes;
      appendBody(body);
    },
    appendText: (head, body) => {
      room(head.length);
      scratch.write(head, used, 'latin1');
      used += head.length;
      total += head.length;
      appendBody(body);
    },
    length: () => total,
    drop: () => {
      [used, total] = [0, 0];
      parts = [];
    },
    write: (socket) => {
      if (total === 0) return true;
      if (parts.length > 0) setAside();
      // Before the write, so that no bytes are left for another client when it throws.
      const [whole, written, texts] = [used, total, parts];
      [used, total, parts] = [0, 0, []];
      if (texts.length === 0) socket.write(scratch.subarray(0, whole));
      else {
        socket.cork();
        for (const part of texts) socket.write(part);
        socket.uncork();
      }
      if (socket.writableLength === 0) return true;
      // The socket still reads these bytes.
      scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
      const release = hold(socket, Math.min(written, socket.writableLength));
      // Its callback runs when the bytes before it were sent.
      socket.write(NOTHING, release);
      return false;
    },
  };
}
