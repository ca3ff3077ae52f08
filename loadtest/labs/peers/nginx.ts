import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PeerScene, RunningPeer } from './peer.ts';
import { type PeerProcessOptions, startPeerProcess } from './peer-process.ts';

/** What an nginx of the peers has of its own. */
export interface NginxOptions extends Pick<PeerProcessOptions, 'name' | 'purge'> {
  /** Of Debian's modules, in the order they are loaded. */
  readonly modules?: readonly string[];
  /** Inside `http`. */
  readonly http: string;
  /** Inside `server`. */
  readonly server: string;
}

const MODULES = '/usr/lib/nginx/modules';

/** nginx with one worker and everything it writes in the scene's folder, in front of the scene's origin. */
export function startNginx(scene: PeerScene, options: NginxOptions): Promise<RunningPeer> {
  const file = join(scene.folder, 'nginx.conf');
  writeFileSync(file, nginxConfig(scene, options, process.getuid?.() === 0));
  return startPeerProcess(scene, {
    ...options,
    command: 'nginx',
    args: ['-p', scene.folder, '-e', 'stderr', '-c', file],
  });
}

/** @param isRoot its worker would become somebody who may not read the folder */
export function nginxConfig({ folder, port, origin }: PeerScene, options: NginxOptions, isRoot: boolean): string {
  const load = (options.modules ?? []).map((name) => `load_module ${MODULES}/${name}.so;\n`).join('');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `  ${kind}_temp_path ${join(folder, `${kind}-temp`)};`)
    .join('\n');
  return `${load}${isRoot ? 'user root;\n' : ''}daemon off;
pid ${join(folder, 'nginx.pid')};
error_log stderr warn;
worker_processes 1;
worker_rlimit_nofile 65536;
worker_shutdown_timeout 5s;
events { worker_connections 8192; }
http {
${temporary}
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  upstream origin {
    server ${new URL(origin).host};
    keepalive 64;
    keepalive_requests 1000000;
  }
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  proxy_connect_timeout 2s;
  proxy_read_timeout 10s;
  proxy_buffers 16 8k;
${options.http}
  server {
    listen 127.0.0.1:${port} backlog=4096;
${options.server}
  }
}
`;
}
