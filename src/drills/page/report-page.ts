import { reportDocument } from '../../report/document.ts';
import { element } from '../../report/markup.ts';
import type { Journal } from '../journal.ts';
import { domainSection } from './domain-section.ts';
import { heading } from './heading.ts';
import { overview } from './overview.ts';
import { planSection } from './plan-section.ts';
import { timeline } from './timeline.ts';
import { verdictWords } from './verdict-words.ts';

/** Along a plot, for all domains together: what keeps the page under 300 KB however long the drill was. */
const COLUMNS = 400;
const [MOST_COLUMNS, LEAST_COLUMNS] = [360, 24];

/** The report of a drill, drawn from the journal alone, at any state of it. */
export function reportPage(journal: Journal): string {
  const columns = Math.floor(COLUMNS / Math.max(1, journal.domains.length));
  const perDomain = Math.min(MOST_COLUMNS, Math.max(LEAST_COLUMNS, columns));
  return reportDocument({
    title: `${verdictWords(journal).word}: ${journal.plan.title} on ${journal.domains.join(', ')}`,
    body: [
      heading(journal),
      element(
        'main',
        {},
        overview(journal),
        journal.domains.map((_, at) => domainSection(journal, at, perDomain)),
        timeline(journal),
        planSection(journal),
      ),
      element(
        'footer',
        {},
        'A dash stands for what was not measured. Shares of keys are shares of their hashes. Drawn from the JSON journal of this drill, which holds every sample.',
      ),
    ],
  });
}
