import { goProgram } from '../stack/go-program.ts';

/**
 * The toxiproxy server's path. When it is not in the user's cache yet it is built there, in half a minute.
 * @throws with one line that says which command helps, or with the words of Go.
 */
export function toxiproxyProgram(): Promise<string> {
  return goProgram({
    name: 'toxiproxy',
    // The last that any Go at hand can build: Debian 12's own is 1.19.
    version: 'v2.5.0',
    module: 'github.com/Shopify/toxiproxy/v2/cmd/server',
    limitMs: 5 * 60_000,
  });
}
