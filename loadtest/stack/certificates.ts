import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A throw-away CA and one server certificate of it, valid a day for loopback. PEM. */
export interface Certificates {
  readonly ca: string;
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** @throws when `openssl` is missing. Made at run time, so that no key is ever kept in the project. */
export async function makeCertificates(directory: string): Promise<Certificates> {
  const file = (name: string): string => join(directory, name);
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const days = ['-days', '1'];
  await run('openssl', [
    ...['req', '-x509', ...curve, ...days, '-subj', '/CN=serpcache test CA'],
    ...['-keyout', file('ca.key'), '-out', file('ca.crt')],
  ]);
  await run('openssl', [
    ...['req', ...curve, '-subj', '/CN=localhost'],
    ...['-keyout', file('server.key'), '-out', file('server.csr')],
  ]);
  // Node checks the address it dials against the alternative names only; a cluster is dialled by address.
  writeFileSync(file('names.ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  await run('openssl', [
    ...['x509', '-req', '-in', file('server.csr'), '-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial'],
    ...[...days, '-extfile', file('names.ext'), '-out', file('server.crt')],
  ]);
  return {
    ca: readFileSync(file('ca.crt'), 'utf8'),
    caFile: file('ca.crt'),
    certFile: file('server.crt'),
    keyFile: file('server.key'),
  };
}
