import { type Language, lines } from '../ad.ts';
import type { Vehicle } from './vehicles.ts';

export interface VehicleWords {
  readonly titles: readonly string[];
  /** Facts from the vehicle's documents. */
  readonly facts: readonly string[];
  /** For a nearly new vehicle. */
  readonly fresh: readonly string[];
  readonly used: readonly string[];
  readonly terms: readonly string[];
}

const TERMS_RU = lines(`
  Торг [уместен|при осмотре|реальному покупателю]
  Без торга и обмена
  [Обмен рассмотрю|Обмен на более дешёвый с доплатой], звоните
  Осмотр $within, $place
  [Переоформление в день сделки|Помогу с переоформлением|Ключи и документы на руках]
  Перекупов прошу не беспокоить
  Звоните [до 22:00|в любое время|после 18:00]
`);
const TERMS_EN = lines(`
  The price is [negotiable|fixed]
  Can be seen $within, $place
  No swaps, no dealers please
  [Call or message any time|I can help with the paperwork], I speak English and Russian
`);

export const carWords: Readonly<Record<Language, VehicleWords>> = {
  ru: {
    titles: lines(`
      $name, $year
      $name, $year, $km км
      $name, $engine, $year
      $name $year года
      $name, $body, $year
      $alias, $year год
    `),
    facts: lines(`
      $name, $owners, пробег $km км, $engine
      $name, год выпуска $year, $engine, $owners
      $name, $body, двигатель $engine, пробег $km км
      Продаю $name $year года, $owners. Пробег $km км
      $name, пробег [родной|честный], $km км. $engine, $owners
    `),
    fresh: lines(`
      Автомобиль на гарантии, [обслуживание у дилера|первое ТО пройдено], [ни одного окраса|плёнка на зонах риска]
      Как новая, [салон пахнет новым|пластик в плёнке], две пары ключей
      [Зимняя резина в подарок|Два комплекта колёс], сигнализация с автозапуском, коврики
      Состояние нового автомобиля, [ДТП не было|проверка любая]
    `),
    used: lines(`
      [Кузов без ржавчины|Кузов в хорошем состоянии|Есть пара рыжиков], салон [чистый|не прокурен|без потёртостей]
      [Двигатель и коробка работают как надо|Мотор масло не ест|Двигатель сухой], ходовая [перебрана|не стучит|обслужена]
      Масло менял каждые [7|8|10] тысяч, [все работы по чекам|есть сервисная книжка]
      [Заменены|Новые] [колодки и диски|стойки и опоры|свечи и катушки|ремень ГРМ и помпа|аккумулятор и шины], [вложений не требует|сел и поехал]
      [Зимняя резина в подарок|Два комплекта колёс|Зимняя резина на дисках], [сигнализация с автозапуском|магнитола с Bluetooth|камера заднего вида]
      [Не такси, не каршеринг|В такси не работала], [ограничений нет|юридически чистая], ПТС оригинал
      [Есть косяки по кузову|Есть мелкие сколы на капоте], по технике [без нареканий|вопросов нет]
      [Ездила жена, бережно|Второй год ездим только на дачу|Ездил на работу и обратно], [взяли новее|нужна побольше|теперь стоит без дела]
    `),
    terms: TERMS_RU,
  },
  en: {
    titles: lines(`
      $name, $year
      $name $year, $km km
      $name $engine, $year
    `),
    facts: lines(`
      $year $name, $engine, $km km, $owners
      $name, $owners, mileage $km km, $engine
      Selling my $name of $year. Mileage is $km km
    `),
    fresh: lines(`
      Still under warranty, serviced by the dealer
      Like new, two sets of keys, no accidents
      Winter tyres included, remote engine start
    `),
    used: lines(`
      No rust, the interior is clean, non-smoker's car
      Engine and gearbox work well, oil changed every [7,000|8,000|10,000] km
      New [brakes|battery|shock absorbers|timing belt], no investment needed
      [Winter tyres included|Two sets of wheels], parking camera
      Never a taxi, clean papers, full service history
      A few scratches on the body, technically in good order
    `),
    terms: TERMS_EN,
  },
};

const MOTO = lines(`
  [Масло и фильтры заменены|Свечи и аккумулятор новые|Обслужен перед сезоном], заводится с [полуоборота|первого раза]
  [Не падал|Без аварий], пластик [родной|без трещин], [замена расходников по регламенту|ни разу не подвёл]
  [Катался по выходным|Ездил на дачу и рыбалку|Хранился в тёплом гараже], [шлем отдам|чехол в подарок|мотоперчатки в подарок]
  Документы [в порядке|на руках], [можно ставить на учёт|один хозяин]
`);
const TRUCK = lines(`
  [Двигатель после капиталки|Мотор сухой|Топливная проверена], [резина 80 %|рама целая|гидравлика держит]
  [Работал по городу|Работал на себя|Возил стройматериалы], [всегда обслужен|каждое ТО вовремя]
  Документы в порядке, [юрлицо, НДС|физлицо, один собственник], [готов к работе|можно в лизинг]
  [Кабина чистая|Печка жарит|Автономка работает], [вложений не требует|сел и работай]
`);
const WATER = lines(`
  [Документы в порядке|На учёте в ГИМС|Чек и паспорт есть], [хранение тёплое|хранил{ся/ась/ось/ись} в гараже]
  [Ездили на рыбалку|Катались два сезона|Обслужен{/а/о/ы} перед сезоном], [готов{/а/о/ы} к сезону|вложений не требует]
  [Чехол отдам|Запасной винт в подарок|Якорь и спасжилеты отдам], [можно опробовать на воде|покажу в работе]
`);
const ANY_EN = lines(`
  Well maintained, starts at once
  Documents are in order, [one owner|ready to register]
  Kept in a warm garage, no investment needed
`);

export function vehicleWords(vehicle: Vehicle, language: Language): VehicleWords {
  const km = vehicle.yearlyKm > 0;
  if (language === 'en') {
    const facts = km ? '$name of $year, $km km' : '$name, made in $year';
    return {
      titles: lines(`
        $name, $year
        $name $noun, $year
      `),
      facts: lines(`
        ${facts}
        Selling a $noun $name. ${km ? 'Mileage is $km km' : 'Year of make: $year'}
      `),
      fresh: ANY_EN,
      used: ANY_EN,
      terms: TERMS_EN,
    };
  }
  const about = vehicle.category === 'мотоциклы' ? MOTO : vehicle.category === 'водный транспорт' ? WATER : TRUCK;
  return {
    titles: lines(`
      $name, $year
      $noun $name, $year
      $noun $name
      $name, $body, $year
    `),
    facts: lines(
      km
        ? `
        $year год, пробег $km км, тип: $body
        Продаю $name, $year год, пробег $km км
        $noun $name $year года. Пробег $km км
        `
        : vehicle.category === 'водный транспорт'
          ? `
        $year год, тип: $body
        Продаю: $noun $name, $year год
        `
          : `
        $year год, наработка около $hours моточасов
        Продаю: $noun $name $year года, $hours моточасов
        `,
    ),
    fresh: about,
    used: about,
    terms: TERMS_RU,
  };
}
