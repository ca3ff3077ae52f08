import { COLORS, kind } from './kind.ts';

export const INSTRUMENTS = [
  kind({
    category: 'музыкальные инструменты',
    weight: 30,
    gender: 'f',
    wear: 'plain',
    noun: 'гитара',
    english: 'guitar',
    models: `
      Yamaha: F310 акустическая~ямаха 14500 x2; C40 классическая 13000 x2; Pacifica 112V электро 34000
      Fender: Squier Stratocaster электро~фендер 31000; CD-60 акустическая 21000
      Ibanez: GRG170 электро~ибанез 25000
      Cort: AD810 акустическая 13500
      Epiphone: Les Paul электро~эпифон 46000
      -: акустическая 5500 x2; классическая детская 4000; укулеле сопрано 2500
    `,
    slots: {
      extra: 'чехол=a case; каподастр и медиаторы=a capo and picks; тюнер=a tuner; запасные струны=spare strings',
      color: COLORS,
    },
    titles: `
      Гитара $full
      Гитара $full, $extra в подарок
    `,
    about: `
      ~ [Строй держит|Гриф ровный|Струны новые], звучит [глубоко|ярко], в подарок $extra
      ~ [Покупал учиться, не пошло|Играл дома|Ходила на ней в музыкальную школу дочь], трещин нет
      В подарок $extra, [анкер на месте|колки литые]
      [Для начинающих самое то|Размер 4/4], $extra отдам вместе
    `,
    titlesEn: `
      $full guitar
    `,
    aboutEn: `
      ~ Stays in tune, straight neck, comes with $extra
      ~ I bought it to learn and never did
      Comes with $extra, good for a beginner
    `,
  }),
  kind({
    category: 'музыкальные инструменты',
    weight: 14,
    gender: 'n',
    wear: 'plain',
    bulky: true,
    noun: 'пианино',
    english: 'piano',
    models: `
      Yamaha: P-45 цифровое 46000 x2; P-125 цифровое 62000
      Casio: CDP-S110 цифровое 41000; Privia PX-770 62000
      Красный Октябрь: чёрное 12000
      Petrof: кабинетное 90000
      -: старинное 8000 x2
    `,
    slots: { stool: 'банкетка=a stool*1.04; пюпитр=a music stand; наушники=headphones*1.02' },
    titles: `
      Пианино $full
      Пианино $full, $stool в комплекте
    `,
    about: `
      ~ Все клавиши работают, $stool в комплекте, [настройщик приходил весной|звук чистый]
      ~ [Ребёнок окончил музыкальную школу|Стоит без дела, занимает место], [лифт есть|первый этаж|вывоз ваш]
      В комплекте $stool, [размеры пришлю|три педали], [нужны двое грузчиков|вывоз ваш]
    `,
    titlesEn: `
      $full piano
    `,
    aboutEn: `
      All keys work, comes with $stool
      ~ Our child has finished music school
      Comes with $stool, pick-up only
    `,
  }),
];
