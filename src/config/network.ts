import { isIPv4, isIPv6 } from 'node:net';

/** An IP address, alone or with the length of its prefix. An IPv4 address is written as one: mapped ones are not taken. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  if (rest.length > 0) return false;
  const bits = isIPv4(address) ? 32 : isPlainIPv6(address) ? 128 : undefined;
  if (bits === undefined) return false;
  return prefix === undefined || (/^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits);
}

function isPlainIPv6(address: string): boolean {
  return isIPv6(address) && !address.includes('%') && !/^(?:::|(?:0+:){5})ffff:/i.test(address);
}

/** Whether only this machine reaches a listener bound to it. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127(\.[0-9]{1,3}){3}$/.test(address);
}
