/**
 * `node loadtest/finding/publish-kept.ts <folder of a run> <page>`: writes a finding that was kept into its page, and its
 * plots into `plots` beside it, as `--publish` does with one just measured.
 */
import { dirname, join } from 'node:path';
import { FINDING_FILE } from './keep-finding.ts';
import { publishFinding } from './publish.ts';
import { readFinding } from './read-record.ts';

const [folder, page] = process.argv.slice(2);
if (folder === undefined || page === undefined) {
  console.error('node loadtest/finding/publish-kept.ts <folder of a run> <page>');
  process.exit(64);
}
try {
  publishFinding(readFinding(join(folder, FINDING_FILE)), page, join(dirname(page), 'plots'));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
