import { kind } from './kind.ts';

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
