import { COLORS, kind } from './kind.ts';

const SIZES = '42; 44; 46; 48; 50; 52; 54';

const CLOTHES_ABOUT = `
  Размер $size, цвет $color:m, [в размер|немного большемерит|маломерит], рост около $height см
  ~ [Из фирменного магазина|Привезли из Европы|Заказывали в интернете], [не подош{ёл/ла/ло/ли} по размеру|сменился размер|надевал{ся/ась/ось/ись} редко]
  ~ [Без пятен и зацепок|Пятен и дырок нет|После химчистки], [можно примерить|замеры пришлю]
`;

const CLOTHES_ABOUT_EN = `
  Size $size, $color, fits true to size, for about $height cm of height
  [Bought in a brand store|Brought from Europe], no stains or loose threads. [You can try it on|Measurements on request]
`;

export const CLOTHES = [
  kind({
    category: 'одежда',
    weight: 34,
    gender: 'f',
    wear: 'cloth',
    noun: 'куртка',
    english: 'jacket',
    models: `
      Columbia: зимняя~коламбия 14000 x2; демисезонная 10500
      The North Face: Nuptse~норт фейс 26000; Himalayan 32000
      Zara: кожаная 11000; джинсовая 6000
      Uniqlo: лёгкая пуховая 7500
      Napapijri: Rainforest~напапири 19000
      -: зимняя женская 6500 x3; зимняя мужская 7000 x3; демисезонная 4500 x2; из экокожи 4000; горнолыжная 9500
    `,
    slots: { size: SIZES, color: COLORS, height: '160; 165; 168; 170; 175; 180' },
    titles: `
      Куртка $full, размер $size
      Куртка $full, $color
      $Color куртка $full
    `,
    about: `${CLOTHES_ABOUT}
      Тёплая и лёгкая, [капюшон отстёгивается|карманы на молнии|ветер не продувает], цвет $color:m
    `,
    titlesEn: `
      $full jacket, size $size
      Jacket $full, $color
    `,
    aboutEn: CLOTHES_ABOUT_EN,
  }),
  kind({
    category: 'одежда',
    weight: 26,
    gender: 'm',
    wear: 'cloth',
    noun: 'пуховик',
    english: 'down coat',
    models: `
      Uniqlo: Ultra Light 9000
      Canada Goose: Expedition~канада гус 62000
      Bosideng: длинный 16000
      Finn Flare: с мехом 15000
      Baon: стёганый 9500
      -: женский длинный 8000 x3; мужской 8500 x2; детский 4500 x2; оверсайз 7500
    `,
    slots: { size: SIZES, color: COLORS, height: '158; 164; 168; 170; 176; 182' },
    titles: `
      Пуховик $full, $size размер
      $Color пуховик $full
    `,
    about: `${CLOTHES_ABOUT}
      Наполнитель [пух и перо|натуральный пух|био-пух], [до −30 тепло|пух не лезет], [капюшон с мехом|манжеты трикотажные]
    `,
    titlesEn: `
      $full down coat, size $size, $color
    `,
    aboutEn: `${CLOTHES_ABOUT_EN}
      Very warm, good down to minus thirty
    `,
  }),
  kind({
    category: 'одежда',
    weight: 32,
    gender: 'n',
    wear: 'cloth',
    noun: 'платье',
    english: 'dress',
    models: `
      Zara: миди 4500 x2; вечернее 6500
      Mango: трикотажное 4200
      H&M: летнее 2500; в цветочек 2800
      Love Republic: коктейльное 5500
      12 Storeez: прямое 13000
      -: вечернее 5000 x3; свадебное 19000 x2; летнее 1800 x3; трикотажное 2200 x2; выпускное 7500; школьное 2000
    `,
    slots: { size: '40; 42; 44; 46; 48; 50', color: COLORS, height: '158; 160; 164; 168; 172' },
    titles: `
      Платье $full, размер $size
      Платье $full, $color
      $Color платье $full
    `,
    about: `${CLOTHES_ABOUT}
      Ткань [приятная, не мнётся|струящаяся|плотная], [подклад есть|молния сзади|пояс в комплекте]. Сидит [красиво|хорошо]
    `,
    titlesEn: `
      $full dress, size $size
      $Color dress $full
    `,
    aboutEn: CLOTHES_ABOUT_EN,
  }),
  kind({
    category: 'одежда',
    weight: 24,
    gender: 'p',
    wear: 'cloth',
    noun: 'джинсы',
    english: 'jeans',
    models: `
      Levi's: 501~левайс 501 9000 x3; 511 8500; 505 8000
      Lee: Rider 7000
      Wrangler: Texas~вранглер 7500
      Zara: мом 4000; клёш 4200
      Gloria Jeans: прямые 2200; скинни 2000
      -: мужские 2500; женские 2300; бананы 2400
    `,
    slots: {
      size: '26; 27; 28; 29; 30; 31; 32; 33; 34; 36',
      color: 'син{ий/яя/ее/ие}=blue; голуб{ой/ая/ое/ые}=light blue; чёрн{ый/ая/ое/ые}=black; сер{ый/ая/ое/ые}=grey',
      height: '164; 168; 172; 176; 180; 184',
    },
    titles: `
      Джинсы $full, W$size
      Джинсы $full, $color
    `,
    about: `${CLOTHES_ABOUT}
      Плотный деним, [без потёртостей|не тянутся|немного стрейч], посадка [высокая|средняя]
    `,
    titlesEn: `
      $full jeans, W$size, $color
    `,
    aboutEn: CLOTHES_ABOUT_EN,
  }),
  kind({
    category: 'одежда',
    weight: 22,
    gender: 'n',
    wear: 'cloth',
    noun: 'худи',
    english: 'hoodie',
    models: `
      Nike: Sportswear~найк 6500; Tech Fleece 10500
      Adidas: Adicolor~адидас 6000
      Carhartt: WIP Chase 10500
      Stone Island: Compass 26000
      Befree: оверсайз 2400
      -: оверсайз 2200 x2; с принтом 1900; на флисе 2600
    `,
    slots: { size: 'S; M; L; XL; XXL', color: COLORS, height: '160; 165; 170; 176; 180; 185' },
    titles: `
      Худи $full, размер $size
      $Color худи $full
    `,
    about: `${CLOTHES_ABOUT}
      Хлопок, [с начёсом|мягкое], [катышков нет|принт целый]
    `,
    titlesEn: `
      $full hoodie, size $size
    `,
    aboutEn: CLOTHES_ABOUT_EN,
  }),
];
