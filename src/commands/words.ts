import type { DomainSettings, Settings } from '../config/settings.ts';
import { UsageError } from './arguments.ts';

/** @param advice what else to do. @throws UsageError naming the configured ones. */
export function domainNamed(name: string, settings: Settings, advice?: string): DomainSettings {
  const domain = settings.domains.find((each) => each.name === name);
  if (domain !== undefined) return domain;
  const configured = settings.domains.map((each) => each.name).join(', ');
  throw new UsageError(`no domain "${name}"; configured: ${configured}${advice === undefined ? '' : `; ${advice}`}`);
}
