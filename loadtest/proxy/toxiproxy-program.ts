import { goProgram } from '../stack/go-program.ts';

/**
 * The toxiproxy server's path. When it is not in the user's cache yet it is built there with Go, which is installed
 * when the machine has none: half a minute, once.
 * @throws with one clear line when there is no Go, or with what Go said.
 */
export function toxiproxyProgram(): Promise<string> {
  return goProgram({
    name: 'toxiproxy',
    // The last that Debian 12's own Go can build.
    version: 'v2.5.0',
    module: 'github.com/Shopify/toxiproxy/v2/cmd/server',
    limitMs: 5 * 60_000,
  });
}
