/** One packet of the MySQL protocol: three bytes of length, one of sequence, the payload. */
export interface Packet {
  /** 0 opens a command; a client's answer to the greeting has 1. */
  readonly sequence: number;
  readonly payload: Buffer;
  readonly bytes: Buffer;
}

/** A longer one is continued in the next packet. No statement and no row of serpcache is that long. */
const MOST_PAYLOAD_BYTES = 0xff_ff_ff - 1;
const HEADER_BYTES = 4;

/** @returns a function of bytes, however they were split, to the packets they complete. It throws at a continued one. */
export function createPacketFramer(): (bytes: Buffer) => Packet[] {
  let parts: Buffer[] = [];
  let kept = 0;
  let wanted = HEADER_BYTES;
  return (more) => {
    parts.push(more);
    kept += more.length;
    if (kept < wanted) return [];
    const bytes = Buffer.concat(parts);
    const packets: Packet[] = [];
    let at = 0;
    wanted = HEADER_BYTES;
    while (bytes.length - at >= HEADER_BYTES) {
      const length = bytes.readUIntLE(at, 3);
      if (length > MOST_PAYLOAD_BYTES) throw new Error('a packet that is continued in the next');
      wanted = HEADER_BYTES + length;
      if (bytes.length - at < wanted) break;
      const packet = bytes.subarray(at, at + wanted);
      packets.push({ sequence: packet[3] ?? 0, payload: packet.subarray(HEADER_BYTES), bytes: packet });
      at += wanted;
      wanted = HEADER_BYTES;
    }
    const rest = bytes.subarray(at);
    parts = rest.length > 0 ? [rest] : [];
    kept = rest.length;
    return packets;
  };
}

const MORE_RESULTS = 0x0008;
const OK = 0x00;
const EOF = 0xfe;
const ERR = 0xff;

/**
 * @returns a function that is given the packets of the reply to one COM_QUERY, in order: true with the last one. A
 * result set is its number of columns, one definition for each, EOF, rows, EOF; the status of OK and of the second EOF tells
 * whether another follows, and an error is always the last. searchd knows no newer form, whatever the client offers.
 */
export function createReplyReader(): (payload: Buffer) => boolean {
  let part: 'start' | 'columns' | 'rows' = 'start';
  return (payload) => {
    const kind = payload[0];
    if (kind === ERR) return true;
    const isEof = kind === EOF && payload.length < 9;
    switch (part) {
      case 'start':
        if (kind === OK) return !hasMore(payload, afterInteger(payload, afterInteger(payload, 1)));
        part = 'columns';
        return false;
      case 'columns':
        if (isEof) part = 'rows';
        return false;
      case 'rows':
        if (!isEof) return false;
        part = 'start';
        return !hasMore(payload, 3);
    }
  };
}

/** A packet too short for the flag does not set it. */
function hasMore(payload: Buffer, statusAt: number): boolean {
  return payload.length >= statusAt + 2 && (payload.readUInt16LE(statusAt) & MORE_RESULTS) !== 0;
}

/** Where an integer of variable length ends. */
function afterInteger(payload: Buffer, at: number): number {
  const first = payload[at] ?? 0;
  return at + (first < 0xfb ? 1 : first === 0xfc ? 3 : first === 0xfd ? 4 : 9);
}

/** An error as searchd writes it: the reply to a statement has a state and a final NUL, a refused connection has neither. */
export function errorPacket(sequence: number, errno: number, text: string, state?: string): Buffer {
  const said = Buffer.from(state === undefined ? text : `#${state}${text}\0`);
  const bytes = Buffer.alloc(HEADER_BYTES + 3 + said.length);
  bytes.writeUIntLE(3 + said.length, 0, 3);
  bytes[3] = sequence;
  bytes[4] = ERR;
  bytes.writeUInt16LE(errno, 5);
  said.copy(bytes, 7);
  return bytes;
}
