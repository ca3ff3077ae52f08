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
