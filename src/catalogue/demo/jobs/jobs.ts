import {
  capital,
  type Draft,
  grouped,
  hurried,
  languageOf,
  lines,
  paragraph,
  type Random,
  render,
  shareSlots,
  transliterate,
} from '../ad.ts';
import { CITIES, placeIn } from '../cities.ts';
import { PROFESSIONS } from './professions.ts';

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
  const firm = random.pick(FIRMS);
  const slots: Readonly<Record<string, string>> = {
    job: english ? job.english : job.name,
    employer: random.pick(job.employers),
    firm: english ? transliterate(firm.replace(/[«»]/g, '')) : firm,
    duties: english ? job.dutiesEn : job.duties.slice(0, random.between(2, job.duties.length)).join(', '),
    pay: grouped(pay),
    more: grouped(Math.round((pay * (1.15 + 0.35 * random.next())) / 5000) * 5000),
    schedule: english ? (SCHEDULES_EN[schedule] ?? '') : schedule,
    shift: english ? 'two days on, two days off' : random.pick(SHIFTS[schedule] ?? ['график обсуждаем']),
    need: english ? (EXPERIENCE_EN[experience] ?? '') : experienceText(experience, random),
    within: english ? `in ${city.english}` : city.within,
    city: english ? city.english : city.name,
    place: placeIn(city, random, english),
  };
  const voice = {
    random,
    gender: 'm' as const,
    slot: (name: string): string => {
      const value = slots[name];
      if (value === undefined) throw new Error(`no slot $${name}`);
      return value;
    },
  };
  const words = english ? ENGLISH : RUSSIAN;
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
    title: hurried(capital(render(random.pick(titles), voice)), random),
    description: paragraph(templates.map((template) => render(template, voice))),
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

/** Invented names of companies. */
const FIRMS = lines(`
  «Северный ветер»
  «Добрый сосед»
  «Вектор плюс»
  «Маяк»
  «Тёплый хлеб»
  «Орион Групп»
  «Новый двор»
  «Радуга»
  «Сибирский путь»
  «Ласточка»
  «Апельсин»
  «Три кита»
  «Меридиан»
  «Городок»
  «Синий кит»
  «Альтаир»
  «Белая ладья»
  «Форвард-Сервис»
  «Уют и дело»
  «Кедр»
  «Пять углов»
  «Рассвет»
`);

const SHIFTS: Readonly<Record<string, readonly string[]>> = {
  'полный день': ['график 5/2, с 9 до 18', 'пятидневка, с 8 до 17', 'график 5/2, выходные плавающие'],
  'сменный график': [
    'график 2/2',
    'график 2/2 по 12 часов',
    'смены 3/3',
    'четыре дня через два',
    'график смен составляем вместе',
  ],
  'свободный график': ['график выбираете сами', 'смены от четырёх часов', 'выходите когда удобно'],
  'удалённая работа': ['работа из дома', 'гибкое начало дня', 'созвон раз в день, остальное время ваше'],
  вахта: ['вахта 30/30', 'вахта 60/30', 'вахта 45/15', 'вахта от 30 смен'],
  'частичная занятость': ['четыре часа в день', 'два-три дня в неделю', 'по вечерам и выходным'],
};
const SCHEDULES_EN: Readonly<Record<string, string>> = {
  'полный день': 'full time',
  'сменный график': 'shift work',
  'свободный график': 'flexible hours',
  'удалённая работа': 'remote work',
  вахта: 'rotation work with housing',
  'частичная занятость': 'part time',
};
const EXPERIENCE_EN: Readonly<Record<string, string>> = {
  'без опыта': 'no experience needed',
  'от 1 года': 'one year of experience',
  'от 3 лет': 'three years of experience',
  'от 5 лет': 'five years of experience',
};

const RUSSIAN = {
  titles: lines(`
    $job
    $job, $place
    $job, $schedule
    $job ($shift)
    $job в компанию $firm
    $job, от $pay ₽
  `),
  remoteTitles: lines(`
    $job, удалённо
    $job (удалённая работа)
    $job в компанию $firm, удалённо
    $job, от $pay ₽, из дома
  `),
  openings: lines(`
    $employer $firm ищет сотрудника: $job, $place
    В компанию $firm требуется $job. Работа $within, $place
    Требуется $job $within. Мы — $employer $firm
    $firm — это $employer $within. Открыта вакансия: $job
    Срочно нужен сотрудник, вакансия: $job. Место работы: $place
  `),
  remoteOpenings: lines(`
    $employer $firm ищет сотрудника: $job, удалённо
    В компанию $firm требуется $job. Работать можно из любого города
    Открыта вакансия: $job. Мы — $employer $firm, [команда небольшая|команда дружная], офис $within
  `),
  duties: lines(`
    Обязанности: $duties
    Что делать: $duties
    Задачи: $duties. Требования: $need
    Нужно: $duties. Ждём [ответственных|внимательных|вежливых] людей
  `),
  terms: lines(`
    Зарплата от $pay рублей, $shift, $need
    Платим от $pay до $more ₽ в месяц, $shift
    Условия: $shift, доход от $pay ₽, $need
    Доход до $more рублей, выплаты [каждую неделю|два раза в месяц|без задержек], $shift
    $need, $shift. На руки от $pay ₽
  `),
  unnamedTerms: lines(`
    Зарплату обсудим на собеседовании, $shift. [Выплаты два раза в месяц|Выплаты без задержек], премии
    Оплата по результатам собеседования: [оклад и премия|оклад и процент], $shift, $need
    Доход зависит от опыта и [числа смен|результата], $shift, [расчёт каждую неделю|аванс через две недели]
  `),
  perks: lines(`
    Оформление [по ТК|по договору], [обеды бесплатно|скидки сотрудникам|премии каждый квартал]
    [Дружный коллектив|Понятный руководитель|Карьерный рост], [оплата обучения|премии по итогам месяца]
    [Иногородним поможем с жильём|Подвозка до работы|Рядом остановка], звоните с 9 до 20
    Пишите в сообщения, перезвоним [в тот же день|за час]
  `),
  remotePerks: lines(`
    Оформление [по ТК|по договору], [техника от компании|ДМС после испытательного срока]
    [Гибкий график|Оплачиваемые курсы|Премии по итогам квартала], [испытательный срок два месяца|тестовое задание на час]
    Пишите в сообщения, [ответим за день|пришлём подробности]
  `),
};

const ENGLISH = {
  titles: lines(`
    $job
    $job, $schedule
    $job in $city
    $job at $firm
  `),
  remoteTitles: lines(`
    $job, remote
    Remote $job
    $job at $firm, remote
  `),
  openings: lines(`
    $firm is looking for a new colleague: $job, $within
    We are hiring $within, near $place. Position: $job
    Join $firm. Position: $job
  `),
  remoteOpenings: lines(`
    $firm is looking for a new colleague: $job, remote
    Remote position at $firm: $job
  `),
  duties: lines(`
    What you do: $duties
    The job: $duties, $need
  `),
  terms: lines(`
    Pay from $pay roubles a month, $schedule, $need
    $schedule, $pay–$more ₽ a month
    We pay from $pay ₽ [twice a month|every week], $schedule
  `),
  unnamedTerms: lines(`
    Pay is discussed at the interview, $schedule
    Pay depends on experience, $schedule
  `),
  perks: lines(`
    Friendly team, training is paid
    Free [lunches|uniform], official contract
    English-speaking team, write to us today
  `),
  remotePerks: lines(`
    English-speaking team, a laptop is provided
    Official contract, flexible start of the day
  `),
};
