import { COLORS, kind } from './kind.ts';

export const HOUSEHOLD = [
  kind({
    category: 'дом и дача',
    weight: 30,
    gender: 'm',
    wear: 'plain',
    bulky: true,
    noun: 'ковёр',
    english: 'rug',
    models: `
      -: шерстяной 12000 x2; безворсовый 6000; с длинным ворсом 7500 x2; детский 3800; бельгийский 10500; на кухню 2200
    `,
    slots: {
      size: '2×3 м=2×3 m*1.2; 1,5×2 м=1.5×2 m; 1,6×2,3 м=1.6×2.3 m*1.05; 2,5×3,5 м=2.5×3.5 m*1.5',
      color: COLORS,
    },
    titles: `
      Ковёр $full, $size
      $Color ковёр $full, $size
    `,
    about: `
      ~ Размер $size, цвет $color:m, [после химчистки|лежал в спальне|не линяет]
      [Края обработаны|Ворс не примят], свёрнут в рулон, [войдёт в машину|готов к перевозке]
      Размер $size, цвет $color:m, [приятный на ощупь|шерсть с вискозой]
    `,
    titlesEn: `
      Rug, $size, $color
      Carpet $size $full
    `,
    aboutEn: `
      ~ $size, $color, dry cleaned this year
      Rolled up and ready to go
      $size, $color, soft
    `,
  }),
  kind({
    category: 'дом и дача',
    weight: 24,
    gender: 'f',
    wear: 'plain',
    bulky: true,
    noun: 'теплица',
    english: 'greenhouse',
    models: `
      -: из поликарбоната 27000 x4; усиленная 34000 x2; мини 9000; с форточками 30000
      Кремлёвская: Люкс 38000; Цинк 42000
    `,
    slots: { length: '4 м=4 m*0.9; 6 м=6 m; 8 м=8 m*1.25; 10 м=10 m*1.45', arc: '65; 67; 100' },
    titles: `
      Теплица $full, $length
      Теплица $full, длина $length
    `,
    about: `
      Длина $length, дуги через $arc см, [поликарбонат 4 мм|оцинкованная труба], две двери
      ~ [Простояла два сезона|Разобрана, лежит в гараже|Разбирать самим], [снег держит|покрытие целое]
    `,
    titlesEn: `
      Greenhouse $full, $length
    `,
    aboutEn: `
      Length $length, polycarbonate cover, two doors
      ~ Taken apart, stored in a garage
    `,
  }),
  kind({
    category: 'дом и дача',
    weight: 24,
    gender: 'm',
    wear: 'plain',
    noun: 'сервиз',
    english: 'tea set',
    models: `
      ЛФЗ: Кобальтовая сетка 14000 x2; Золотая лента 9000
      Дулёво: чайный 6000; столовый 9500
      -: чайный 3500 x2; кофейный 4000; столовый 7000
      Мадонна: чайный 12000
    `,
    slots: { people: 'на 6 персон=for 6*1; на 12 персон=for 12*1.6' },
    titles: `
      Сервиз $full $people
      Сервиз $full, СССР, $people
    `,
    about: `
      ~ Полный комплект $people, сколов и трещин нет, [стоял в серванте|доставали по праздникам]
      ~ [Достался от бабушки|Дарили на свадьбу], [упакую надёжно|позолота не стёрта]
      Полный комплект $people, [чашки, блюдца, чайник|роспись ручная]
    `,
    titlesEn: `
      Tea set $full $people
    `,
    aboutEn: `
      Complete set $people, no chips or cracks
      ~ It stood in a cabinet for years. [Will be packed well|A family piece]
      $people, hand painted
    `,
  }),
];

export const TOOLS = [
  kind({
    category: 'инструменты и ремонт',
    weight: 30,
    gender: 'm',
    wear: 'device',
    noun: 'шуруповёрт',
    english: 'cordless drill',
    models: `
      Makita: DF333D~макита 9500 x2; DDF484~макита 484 19000
      Bosch: GSR 120-LI~бош 9000 x2; GSR 18V-50 17000
      DeWalt: DCD771~девольт 14000; DCD791 22000
      Интерскол: ДА-12ЭР 5000; ДА-18ЭР 7000
      Metabo: BS 18 17000
      Зубр: ДАИ-12 4500
    `,
    slots: {
      packs: 'один аккумулятор=one battery*0.9; два аккумулятора=two batteries',
      case: 'кейс=a case; кейс и биты=a case and bits',
    },
    titles: `
      Шуруповёрт $full
      Шуруповёрт $full, $packs
    `,
    about: `
      $packs, зарядка, $case, [патрон не бьёт|крутит мощно]
      ~ [Собирал дома мебель|Использовался на даче|Работал на одном объекте], [аккумулятор держит|ничего не менял]
      В наборе $case, $packs, [подсветка и реверс|две скорости]
    `,
    titlesEn: `
      $full cordless drill
      Cordless drill $full, $packs
    `,
    aboutEn: `
      $packs, charger and $case
      ~ Used to assemble furniture at home, strong and reliable
      $packs, $case, two speeds
    `,
  }),
  kind({
    category: 'инструменты и ремонт',
    weight: 26,
    gender: 'm',
    wear: 'device',
    noun: 'перфоратор',
    english: 'rotary hammer',
    models: `
      Makita: HR2470~макита 2470 13000 x2; HR2630 16000
      Bosch: GBH 2-26~бош 226 14500 x2; PBH 2100 8500
      Интерскол: П-26 7500; П-30 9500
      DeWalt: D25133K 15500
      Вихрь: П-800К 5500
    `,
    slots: { bits: 'набор буров=a set of bits*1.05; кейс=a case; переходной патрон=a spare chuck*1.04' },
    titles: `
      Перфоратор $full
      Перфоратор $full, $bits
    `,
    about: `
      ~ Бьёт и сверлит, $bits в комплекте, [щётки новые|смазка заменена|кабель целый]
      ~ [Сделал ремонт, больше не нужен|Сверлил под полки|Лежит в кладовке], [проверка на месте|можно испытать на бетоне]
      В комплекте $bits, [SDS-plus, три режима|реверс, регулировка оборотов]
    `,
    titlesEn: `
      $full rotary hammer
    `,
    aboutEn: `
      ~ Comes with $bits, can be tested on the spot
      ~ The renovation is over and I do not need it any more
      Comes with $bits, three modes
    `,
  }),
  kind({
    category: 'инструменты и ремонт',
    weight: 26,
    gender: 'f',
    wear: 'none',
    bulky: true,
    noun: 'плитка',
    english: 'tiles',
    models: `
      Kerama Marazzi: для ванной 1400 x2; напольная 1700
      Cersanit: настенная 1000; под дерево 1200
      -: керамогранит 1100 x2; мозаика 1900; остатки после ремонта 700 x2
    `,
    slots: {
      metres: '2,5*2.5; 4*4; 6*6; 8*8; 12*12; 15*15',
      color: 'бел{ый/ая/ое/ые}=white; бежев{ый/ая/ое/ые}=beige; сер{ый/ая/ое/ые}=grey; голуб{ой/ая/ое/ые}=light blue',
    },
    titles: `
      Плитка $full, $metres м²
      $Color плитка $full
    `,
    about: `
      Осталось $metres м² после ремонта, [упаковки закрыты|без сколов|одна партия]. Цена за всё
      Цвет $color:m, хватит на [санузел|фартук|небольшую стену]. Отдаём всё сразу, $metres м²
      В наличии $metres м², цвет $color:m, [матовая|глянцевая], [затирку отдам|клей отдам]
    `,
    titlesEn: `
      Tiles $full, $metres m²
    `,
    aboutEn: `
      $metres m² left after a renovation, $color, the price is for all of it
      $metres m², $color, unopened boxes
    `,
  }),
];
