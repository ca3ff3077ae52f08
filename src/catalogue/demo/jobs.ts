import {
  type Draft,
  descriptionOf,
  grouped,
  languageOf,
  type Random,
  range,
  shareSlots,
  titleOf,
  transliterate,
  voiceOf,
} from './ad.ts';
import { CITIES, cityWords } from './cities.ts';
import vocabulary from './vocabulary/jobs.json' with { type: 'json' };
import employers from './vocabulary/professions.json' with { type: 'json' };

/** An ad for a vacancy, from a profession, a schedule, an experience and a city. */
export function jobsAd(random: Random): Draft {
  const job = random.weighted(PROFESSIONS);
  const english = languageOf(random) === 'en';
  const city = random.weighted(CITIES);
  const schedule = random.pick(job.schedules);
  const experience = random.pick(job.experience);
  const level = job.experience.indexOf(experience) / Math.max(1, job.experience.length - 1);
  const [from, to] = job.pay;
  const share = 0.65 * random.next() + 0.35 * level * random.next();
  const partTime = schedule === 'частичная занятость' ? 0.6 : schedule === 'вахта' ? 1.25 : 1;
  const pay = Math.round((from + (to - from) * share) * city.pay * partTime) * 1000;
  // Some employers do not name the pay before the interview, not even in the text.
  const isNamed = !random.chance(0.03);
  const firm = random.pick(vocabulary.firms);
  const slots: Readonly<Record<string, string>> = {
    job: english ? job.english : job.name,
    employer: random.pick(job.employers),
    firm: english ? transliterate(firm.replace(/[«»]/g, '')) : firm,
    duties: english ? job.dutiesEn : job.duties.slice(0, random.between(2, job.duties.length)).join(', '),
    pay: grouped(pay),
    more: grouped(Math.round((pay * (1.15 + 0.35 * random.next())) / 5000) * 5000),
    schedule: english ? vocabulary.schedules[schedule] : schedule,
    shift: english ? 'two days on, two days off' : random.pick(vocabulary.shifts[schedule]),
    need: english ? vocabulary.experience[experience] : experienceText(experience, random),
    ...cityWords(city, random, english),
  };
  const voice = voiceOf(random, 'm', slots);
  const words = english ? vocabulary.en : vocabulary.ru;
  const remote = schedule === 'удалённая работа';
  const titles = (remote ? words.remoteTitles : words.titles).filter((line) => isNamed || !line.includes('$pay'));
  const perks = remote ? words.remotePerks : words.perks;
  const duties = random.pick(words.duties);
  const templates = [
    random.pick(remote ? words.remoteOpenings : words.openings),
    duties,
    random.pick((isNamed ? words.terms : words.unnamedTerms).filter((line) => !shareSlots(line, duties))),
    ...(random.chance(0.6) ? [random.pick(perks)] : []),
  ];
  return {
    title: titleOf(titles, voice),
    description: descriptionOf(templates, voice),
    attributes: {
      category: job.category,
      schedule,
      experience,
      city: city.name,
      ...(isNamed ? { price: pay } : {}),
    },
  };
}

function experienceText(experience: string, random: Random): string {
  if (experience !== 'без опыта') return random.pick([`опыт ${experience}`, `опыт работы ${experience}`]);
  return random.pick(['можно без опыта', 'опыт не нужен, всему научим', 'без опыта, обучение за наш счёт']);
}

const SCHEDULES = {
  п: 'полный день',
  с: 'сменный график',
  г: 'свободный график',
  у: 'удалённая работа',
  в: 'вахта',
  ч: 'частичная занятость',
} as const;
/** Required experience, from none. */
const EXPERIENCE = ['без опыта', 'от 1 года', 'от 3 лет', 'от 5 лет'] as const;

/** A row: name / English | thousand roubles | schedules | experience, from–to | duties | duties in English | weight */
const PROFESSIONS = employers.flatMap(({ category, employers, professions }) =>
  professions.map((row) => {
    const [names = '', pay = '', schedules = '', years = '', duties = '', dutiesEn = '', weight = ''] =
      row.split(' | ');
    const [name = '', english = ''] = names.split(' / ');
    const [least, most] = range(years);
    return {
      category,
      /** The kind of employer: «сеть кофеен». */
      employers,
      /** In the form of «требуется …». */
      name,
      english,
      /** Thousand roubles per month in an average city. */
      pay: range(pay),
      schedules: schedules.split(', ').map((letter) => SCHEDULES[letter as keyof typeof SCHEDULES]),
      experience: EXPERIENCE.slice(least, most + 1),
      /** In the form of «Обязанности: …». */
      duties: duties.split(', '),
      dutiesEn,
      weight: Number(weight),
    };
  }),
);
