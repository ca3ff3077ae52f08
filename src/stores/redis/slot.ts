const SLOTS = 16_384;

/** CRC16 as Redis Cluster uses it (XMODEM: polynomial 0x1021, initial 0), one entry per byte. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/**
 * The Redis Cluster hash slot of a name, 0–16383: of what stands between the first `{` and the next `}`, unless that
 * is empty. Our own, because the package ioredis uses takes a later tag where the first one is empty (`{}a{b}`), and
 * a slot that differs from `CLUSTER KEYSLOT` books a node's errors to another.
 */
export function slotOf(name: string): number {
  const open = name.indexOf('{');
  const close = open < 0 ? -1 : name.indexOf('}', open + 1);
  const tag = close > open + 1 ? name.slice(open + 1, close) : name;
  let crc = 0;
  for (let index = 0; index < tag.length; index += 1) {
    const unit = tag.charCodeAt(index);
    // Names of ours are ASCII: bytes are made only for names that are not.
    if (unit > 0x7f) return slotOfBytes(Buffer.from(tag));
    crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ unit] ?? 0);
  }
  return crc % SLOTS;
}

function slotOfBytes(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] ?? 0);
  return crc % SLOTS;
}
