import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder with these files, by their paths in it. It is removed after the test, or after the file with its `{ after }`. */
export function temporaryFolder(
  t: { readonly after: (end: () => void) => void },
  files: Readonly<Record<string, string>> = {},
): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'serpcache-')));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}
