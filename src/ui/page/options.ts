import { DEMO_SEARCHES } from '../../catalogue/demo.ts';
import type { Settings } from '../../config/settings.ts';
import type { PageContext } from '../../http/search-api/public-server.ts';
import type { Example } from './assets/address.ts';

export interface PageOptions extends PageContext, PageSettings {}

interface PageSettings {
  /** Searches offered on the empty page. */
  readonly examples?: readonly Example[];
  /** Address of the admin listener's explain, where readers of this page may open it. */
  readonly explainUrl?: string;
}

export function pageSettings({ domains, admin, public: { host } }: Settings): PageSettings {
  const isDemo = domains.every(({ engine }) => engine.kind === 'sqlite' && engine.demo);
  // When both listeners have the same address, a reader of the page can reach the admin listener too.
  const isOpen = admin.host === host && admin.token === undefined;
  const scheme = admin.tls === undefined ? 'http' : 'https';
  return {
    examples: isDemo ? DEMO_SEARCHES : undefined,
    explainUrl: isOpen ? `${scheme}://${admin.host}:${admin.port}/admin/explain` : undefined,
  };
}
