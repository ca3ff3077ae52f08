/** Larger than any packet of a page. A packet of the greatest length would continue in the next one. */
const MAX_PAYLOAD_BYTES = 0xff_ff_ff - 1;
/** Bounds of one reply: larger than any page with its facets. */
const MAX_REPLY_BYTES = 64 * 2 ** 20;
const MAX_REPLY_PACKETS = 100_000;
const MAX_COLUMNS = 4096;
const MAX_HANDSHAKE_PACKETS = 16;
/**
 * A packet that is no definition and no row: of a handshake, an OK, an error, a number of columns. The first three letters of
 * another protocol announce megabytes; mysql2 takes seconds for an OK of that size.
 */
const MAX_STATUS_BYTES = 0xff_ff;
const MAX_MESSAGE = 200;

const HEADER_BYTES = 4;
const PROTOCOL_10 = 0x0a;
const [OK, NULL, EOF, ERROR] = [0x00, 0xfb, 0xfe, 0xff];
/** An EOF packet is shorter; a row may begin with the same byte. */
const EOF_BELOW_BYTES = 9;
const MORE_RESULTS = 0x0008;
/** In a column definition: six texts, then the length of what follows, and at least that much. */
const DEFINITION_TEXTS = 6;
const DEFINITION_REST_BYTES = 13;

interface PacketReaderOptions {
  /** The number that the next packet must carry. It is asked for after each packet has passed. */
  readonly sequence: () => number;
  readonly isOpen: () => boolean;
  readonly pass: (packet: Buffer) => void;
}

/**
 * Reads what searchd sends on one connection before the driver does. mysql2 3.24 reads beyond the end of a packet, drops a
 * statement without its callback when EOF is missing, throws outside of every handler at a cut error that no statement
 * waits for, and prints a line for each wrong sequence number: only whole and well-formed packets, in their order, may
 * reach it.
 */
export function createPacketReader({ sequence, isOpen, pass }: PacketReaderOptions) {
  const replies = createReplyChecks();
  let parts: Buffer[] = [];
  let kept = 0;
  /** Nothing can be complete before that many bytes are there. */
  let wanted = HEADER_BYTES;

  /**
   * Calls `pass` with each packet that `more` completes, until the connection is no longer open.
   * @returns what is wrong with the next packet; the connection must then end.
   */
  const receive = (more: Buffer): string | undefined => {
    parts.push(more);
    kept += more.length;
    if (kept < wanted) return undefined;
    const bytes = parts.length === 1 ? more : Buffer.concat(parts);
    let at = 0;
    wanted = HEADER_BYTES;
    while (isOpen() && bytes.length - at >= HEADER_BYTES) {
      const length = bytes.readUIntLE(at, 3);
      if (length === 0 || length > replies.maxPayloadBytes()) return `a packet of ${length} bytes`;
      const end = at + HEADER_BYTES + length;
      if (end > bytes.length) {
        wanted = end - at;
        break;
      }
      const fault = replies.faultIn(bytes, at + HEADER_BYTES, end);
      if (fault !== undefined) return fault;
      if (bytes[at + 3] !== sequence()) return `packet ${bytes[at + 3]}, not ${sequence()}, of a reply`;
      pass(bytes.subarray(at, end));
      at = end;
    }
    parts = at < bytes.length ? [bytes.subarray(at)] : [];
    kept = bytes.length - at;
    return undefined;
  };
  return { expectReply: replies.expectReply, receive };
}

export type PacketReader = ReturnType<typeof createPacketReader>;

/** The order of packets, from the greeting on. */
function createReplyChecks() {
  /** Number of statements without a complete reply. */
  let statements = 0;
  let expects: 'greeting' | 'handshake' | 'nothing' | 'start' | 'definition' | 'end of definitions' | 'row' =
    'greeting';
  let packets = 0;
  let bytes = 0;
  let columns = 0;
  let definitions = 0;

  const nextReply = (): undefined => {
    expects = statements > 0 ? 'start' : 'nothing';
    packets = 0;
    bytes = 0;
  };
  const endOfReply = (): undefined => {
    statements -= 1;
    return nextReply();
  };
  const endOfSet = (more: boolean): undefined => {
    if (!more) return endOfReply();
    expects = 'start';
  };
  const startOfSet = (packet: Buffer, at: number, end: number): string | undefined => {
    if (packet[at] === OK) {
      const status = numberEnd(packet, numberEnd(packet, at + 1, end), end);
      if (status < 0 || end - status < 4) return 'a cut OK';
      return endOfSet(hasMore(packet, status));
    }
    columns = numberEnd(packet, at, end) === end ? numberAt(packet, at) : 0;
    if (columns < 1 || columns > MAX_COLUMNS) return 'no number of columns';
    definitions = 0;
    expects = 'definition';
    return undefined;
  };
  const inSet = (packet: Buffer, at: number, end: number): string | undefined => {
    const isEof = packet[at] === EOF && end - at < EOF_BELOW_BYTES;
    if (isEof && end - at < 5) return 'a cut EOF';
    switch (expects) {
      case 'definition':
        if (isEof || !isDefinition(packet, at, end)) return 'no definition of a column';
        definitions += 1;
        if (definitions === columns) expects = 'end of definitions';
        return undefined;
      case 'end of definitions':
        if (!isEof) return 'no EOF after the columns';
        expects = 'row';
        return undefined;
      default:
        if (isEof) return endOfSet(hasMore(packet, at + 3));
        return isRow(packet, at, end, columns) ? undefined : `a row that is not of ${columns} columns`;
    }
  };

  return {
    maxPayloadBytes: () => (expects === 'definition' || expects === 'row' ? MAX_PAYLOAD_BYTES : MAX_STATUS_BYTES),
    /** One more statement is sent, or waits in the driver for the replies before its own. */
    expectReply: (): void => {
      statements += 1;
      if (expects === 'nothing') nextReply();
    },
    /** The fault of the payload between `at` and `end`, which is not empty. */
    faultIn: (packet: Buffer, at: number, end: number): string | undefined => {
      packets += 1;
      bytes += end - at;
      const isError = packet[at] === ERROR;
      if (expects === 'nothing')
        return isError ? `an error without a statement: ${messageIn(packet, at, end)}` : 'a packet without a statement';
      if (isError) {
        // The driver reads a number, and a state where `#` follows.
        if (end - at < 3 || (packet[at + 3] === 0x23 && end - at < 9)) return 'a cut error';
        if (end - at > MAX_STATUS_BYTES) return 'an error that is too large';
        return endOfReply();
      }
      switch (expects) {
        case 'greeting':
          expects = 'handshake';
          return packet[at] === PROTOCOL_10 ? undefined : 'no greeting of protocol 10';
        case 'handshake':
          if (packet[at] === OK) return nextReply();
          return packets > MAX_HANDSHAKE_PACKETS ? 'a handshake without an end' : undefined;
        case 'start':
        case 'definition':
        case 'end of definitions':
        case 'row':
          if (bytes > MAX_REPLY_BYTES || packets > MAX_REPLY_PACKETS) return 'a reply larger than any page';
          return expects === 'start' ? startOfSet(packet, at, end) : inSet(packet, at, end);
      }
    },
  };
}

/** The text of an error packet, as far as it is there. */
function messageIn(packet: Buffer, at: number, end: number): string {
  const text = at + (packet[at + 3] === 0x23 ? 9 : 3);
  return packet.toString('utf8', Math.min(text, end), Math.min(end, text + MAX_MESSAGE));
}

/** A status of two bytes is at `at`. */
function hasMore(packet: Buffer, at: number): boolean {
  return (packet.readUInt16LE(at) & MORE_RESULTS) !== 0;
}

function isDefinition(packet: Buffer, start: number, end: number): boolean {
  let at = start;
  for (let text = 0; text < DEFINITION_TEXTS; text += 1) {
    at = textEnd(packet, at, end);
    if (at < 0) return false;
  }
  return end - at >= DEFINITION_REST_BYTES;
}

function isRow(packet: Buffer, start: number, end: number, columns: number): boolean {
  let at = start;
  for (let column = 0; column < columns; column += 1) {
    at = at < end && packet[at] === NULL ? at + 1 : textEnd(packet, at, end);
    if (at < 0) return false;
  }
  return at === end;
}

/** Where the text whose length is at `at` ends; −1 when that is not within the packet, or when it is NULL. */
function textEnd(packet: Buffer, at: number, end: number): number {
  const text = numberEnd(packet, at, end);
  if (text < 0) return -1;
  const after = text + numberAt(packet, at);
  return after <= end ? after : -1;
}

/** Where the number of variable length at `at` ends; −1 when that is not within the packet, or when it is no number. */
function numberEnd(packet: Buffer, at: number, end: number): number {
  const first = packet[at];
  if (at < 0 || at >= end || first === undefined || first === NULL || first === ERROR) return -1;
  const after = at + (first < NULL ? 1 : first === EOF ? 9 : first === 0xfd ? 4 : 3);
  return after <= end ? after : -1;
}

/** The number at `at`, which is whole. */
function numberAt(packet: Buffer, at: number): number {
  const first = packet[at] ?? 0;
  if (first < NULL) return first;
  if (first === EOF) return Number(packet.readBigUInt64LE(at + 1));
  return packet.readUIntLE(at + 1, first === 0xfd ? 3 : 2);
}
