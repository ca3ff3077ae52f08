import { type Language, lines } from '../phrase.ts';

/** Why people sell. */
export const REASONS: Readonly<Record<Language, readonly string[]>> = {
  ru: lines(`
    Продаю в связи с переездом
    Продаю, потому что [переезжаем|купили нов{ый/ую/ое/ые}|не пользуемся]
    Больше не нуж{ен/на/но/ны}, [жалко выбрасывать|занима{ет/ет/ет/ют} место]
    Леж{ит/ит/ит/ат} без дела
    Освобождаем место дома
    Срочно нужны деньги, поэтому цена такая
  `),
  en: lines(`
    Selling because we are moving
    Selling because we have bought a new one
    Not needed any more
    We are making room at home
  `),
};

/** How to get the thing. */
export const TERMS: Readonly<Record<Language, readonly string[]>> = {
  ru: lines(`
    Торг при осмотре
    Торг [уместен|небольшой|тому, кто приедет сегодня]
    Без торга
    Самовывоз, $place
    Забирать: $place
    [Вечером после шести|В любое время|По выходным], $place
    Пишите в сообщения, [отвечаю быстро|звонки не всегда слышу]
    Звоните [до 21:00|с 10 до 20|в любое время]
    [Могу привезти по городу|Доставка по городу за ваш счёт]
  `),
  en: lines(`
    Pick-up near $place
    Price is [negotiable|slightly negotiable|fixed]
    Message me [any time|in the evening], I speak English and Russian
    $place, [evenings|weekends|any time]
  `),
};

/** The same for what can be posted. */
export const POSTAL_TERMS: Readonly<Record<Language, readonly string[]>> = {
  ru: lines(`
    [Отправлю в другой город|Возможна отправка транспортной компанией|Отправлю почтой после оплаты]
    [Обмен не интересует|На обмен не предлагать]
  `),
  en: lines(`
    [Can be shipped to other cities|I can ship it at your cost]
    No exchanges, please
  `),
};
