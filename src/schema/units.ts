import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** Milliseconds and bytes, for bounds and defaults. */
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const KIB = 2 ** 10;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Where a server listens: a port of a host, or a Unix socket of this machine. */
export type Address = HostPort | { readonly path: string };

/** JSON Schema patterns of the texts parsed below, so that an editor checks what the service accepts. */
export const ONE_LINE_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';
export const DURATION_PATTERN = '^[0-9]{1,9}(\\.[0-9]{1,3})?(ms|s|m|h|d)$';
export const SIZE_PATTERN = '^[0-9]{1,9}(\\.[0-9]{1,3})?(B|KiB|MiB|GiB)$';
export const HOST_PATTERN = '^([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45})$';
export const HOST_PORT_PATTERN =
  '^([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]{2,45}\\]):[0-9]{1,5}$';

export const ADDRESS_PATTERN = `${HOST_PORT_PATTERN}|^unix:/[^\\u0000-\\u001f\\u007f]{1,106}$`;

type Scale = readonly (readonly [suffix: string, factor: number])[];

/** Largest unit first, so that a value is formatted in the largest unit that holds it exactly. */
const DURATIONS: Scale = [
  ['d', DAY],
  ['h', HOUR],
  ['m', MINUTE],
  ['s', SECOND],
  ['ms', 1],
];
const SIZES: Scale = [
  ['GiB', GIB],
  ['MiB', MIB],
  ['KiB', KIB],
  ['B', 1],
];

const durationPattern = new RegExp(DURATION_PATTERN);
const sizePattern = new RegExp(SIZE_PATTERN);
const hostPortPattern = new RegExp(HOST_PORT_PATTERN);

/** Milliseconds of `50ms`, `1.5s`, `5m`, `1h`, `2d`; undefined for anything else, and for fractions of one. */
export function parseDuration(text: string): number | undefined {
  return durationPattern.test(text) ? parseScaled(text, DURATIONS) : undefined;
}

/** Bytes of `512B`, `64KiB`, `256MiB`, `1.5GiB`; undefined for anything else, fractions of a byte included. */
export function parseSize(text: string): number | undefined {
  return sizePattern.test(text) ? parseScaled(text, SIZES) : undefined;
}

/** The shortest exact text: `90000` → `90s`. Whole milliseconds only. */
export function formatDuration(ms: number): string {
  return formatScaled(ms, DURATIONS);
}

/** The shortest exact text: `268435456` → `256MiB`. Whole bytes only. */
export function formatSize(bytes: number): string {
  return formatScaled(bytes, SIZES);
}

/** `redis-a:6379`, `10.0.0.1:6379`, `[::1]:6379`; undefined for anything else. Port 1–65535. */
export function parseHostPort(text: string): HostPort | undefined {
  if (!hostPortPattern.test(text)) return undefined;
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  if (port < 1 || port > 65_535) return undefined;
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port };
}

export function formatHostPort({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Linux takes 107 bytes. */
const MAX_SOCKET_PATH_BYTES = 107;

/** As `parseHostPort`, or `unix:/run/redis.sock`: an absolute path. */
export function parseAddress(text: string): Address | undefined {
  if (!text.startsWith('unix:/')) return parseHostPort(text);
  const path = text.slice('unix:'.length).replace(/^\/+/, '/');
  return path.length > 1 && Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? { path } : undefined;
}

export function formatAddress(address: Address): string {
  return 'path' in address ? `unix:${address.path}` : formatHostPort(address);
}

function parseScaled(text: string, scale: Scale): number | undefined {
  const digits = /^[0-9.]+/.exec(text)?.[0] ?? '';
  const factor = scale.find(([suffix]) => suffix === text.slice(digits.length))?.[1];
  if (factor === undefined) return undefined;
  const exact = Number(digits) * factor;
  const whole = Math.round(exact);
  // In floating point 1.001s is 1000.9999999999999 ms, although it is a whole number of milliseconds.
  return Math.abs(exact - whole) < 1e-3 ? whole : undefined;
}

function formatScaled(value: number, scale: Scale): string {
  if (value === 0) return `0${scale.at(-1)?.[0]}`;
  const unit = scale.find(([, factor]) => value % factor === 0);
  return unit === undefined ? String(value) : `${value / unit[1]}${unit[0]}`;
}

/** Whether a text is an IP address, alone or with a prefix length. IPv4-mapped IPv6 addresses are refused. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  if (rest.length > 0) return false;
  const bits = isIPv4(address) ? 32 : isPlainIPv6(address) ? 128 : undefined;
  if (bits === undefined) return false;
  return prefix === undefined || (/^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits);
}

/** Whether an address is in one of the networks (`isNetwork`). An IPv4-mapped address counts as its IPv4 address. */
export function createNetworkTest(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    const [bare = ''] = address.split('%', 1);
    return isIP(bare) !== 0 && list.check(bare, isIPv4(bare) ? 'ipv4' : 'ipv6');
  };
}

function isPlainIPv6(address: string): boolean {
  return isIPv6(address) && !address.includes('%') && !/^(?:::|(?:0+:){5})ffff:/i.test(address);
}

/** Whether a listener on this address is reachable from this machine only. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127(\.[0-9]{1,3}){3}$/.test(address);
}
