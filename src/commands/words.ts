import type { DomainSettings, Settings } from '../config/settings.ts';
import { UsageError } from './command.ts';

/** @throws UsageError naming the configured ones. */
export function domainNamed(name: string, settings: Settings): DomainSettings {
  const domain = settings.domains.find((each) => each.name === name);
  if (domain !== undefined) return domain;
  throw new UsageError(`no domain "${name}"; configured: ${settings.domains.map((each) => each.name).join(', ')}`);
}

/** @throws UsageError */
export function wholeNumber(option: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`${option} takes a whole number, not "${text}"`);
}
