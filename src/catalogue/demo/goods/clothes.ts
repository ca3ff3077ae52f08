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

export const SHOES = [
  kind({
    category: 'обувь',
    weight: 58,
    gender: 'p',
    wear: 'cloth',
    noun: 'кроссовки',
    english: 'sneakers',
    models: `
      Nike: Air Force 1~найк форсы 11000 x3; Air Max 90~найк аир макс 13000 x2; Dunk Low~найк данки 12500 x2; Pegasus 40 11000; Revolution 6 6500 x2; Jordan 1 Mid~джорданы 14500
      Adidas: Superstar~адидас суперстар 9500 x2; Samba OG~адидас самба 12000 x2; Ultraboost 22~адидас ультрабуст 13000; Gazelle~адидас газели 10500; Runfalcon 3 6000; Yeezy Boost 350~изи буст 21000
      New Balance: 574~нью баланс 574 10000 x3; 530~нью баланс 530 11000 x2; 9060 17000
      Puma: RS-X~пума 9000; Suede Classic 7500; Smash 4800
      Reebok: Classic Leather~рибок классик 8000 x2; Club C 85 8500
      Asics: Gel-Kayano 29~асикс каяно 14500; Gel-1130 12000; Gel-Contend 6000
      Salomon: Speedcross 6~саломон 14500; XT-6 18500
      -: мужские 3500; женские 3200; летние 2500
    `,
    slots: { size: '36; 37; 38; 39; 40; 41; 42; 43; 44; 45', color: COLORS, cm: '23; 24; 25; 26; 27; 28' },
    titles: `
      Кроссовки $full, $size размер
      Кроссовки $full, $color
      $full, размер $size
      Кроссовки $alias, р. $size
      Кроссовки $full
    `,
    about: `
      Размер $size, цвет $color:m. [Оригинал|Оригинал, коробка есть|Куплены в фирменном магазине]
      ~ [Надевались пару раз|Носились один сезон|Подошва почти не стёрта], [после чистки|без запаха|стельки родные]
      ~ [Не подошли по размеру|Лежат без дела], [маломерят|в размер|большемерят]
      Кроссовки [лёгкие, нога дышит|для бега и зала|на каждый день]. [Можно примерить|Примерка у метро]
      Цвет $color:m, по стельке $cm см, [шнурки запасные есть|коробка есть]
    `,
    titlesEn: `
      $full sneakers, size $size
      Sneakers $full, $color
    `,
    aboutEn: `
      EU size $size, $color, genuine[, with box|]
      ~ Worn a couple of times, soles are almost new. [Wrong size for me|I have too many pairs]
      $color, size $size
    `,
  }),
  kind({
    category: 'обувь',
    weight: 26,
    gender: 'p',
    wear: 'cloth',
    noun: 'ботинки',
    english: 'boots',
    models: `
      Timberland: 6-Inch~тимберленды 16000 x2
      Dr. Martens: 1460~мартинсы 17000 x2; Jadon 20000
      Ecco: Track 25 17000; Tredtray 14000
      Columbia: Fairbanks 11000; Newton Ridge 9500
      Ralf Ringer: зимние 9000; осенние 7500
      -: зимние 5500 x2; трекинговые 6500; демисезонные 4500 x2; рабочие 3500
    `,
    slots: {
      size: '36; 37; 38; 39; 40; 41; 42; 43; 44',
      color: 'чёрн{ый/ая/ое/ые}=black; коричнев{ый/ая/ое/ые}=brown; рыж{ий/ая/ее/ие}=tan; сер{ый/ая/ое/ые}=grey',
    },
    titles: `
      Ботинки $full, размер $size
      Ботинки $full $color
    `,
    about: `
      Размер $size, натуральная кожа, цвет $color:m, [мех внутри|мембрана|подошва прошита]
      ~ [Носились один сезон|Надевались пару раз], [не промокают|скользкую дорогу держат|после профилактики]
      Цвет $color:m, размер $size, [примерка на месте|полнота обычная]
    `,
    titlesEn: `
      $full boots, size $size
    `,
    aboutEn: `
      EU size $size, leather, $color, [warm inside|waterproof]
      ~ Worn for one season, soles are in good order
      $color, size $size, leather
    `,
  }),
  kind({
    category: 'обувь',
    weight: 18,
    gender: 'p',
    wear: 'cloth',
    noun: 'туфли',
    english: 'shoes',
    models: `
      Tamaris: лодочки 5500; на низком каблуке 5000
      Ecco: Shape 9500; Vitrus 11000
      Rieker: Antistress 6500
      Carnaby: замшевые 6000
      -: женские на каблуке 3500 x2; мужские классические 4500 x2; свадебные 4000; лаковые 3000
    `,
    slots: {
      size: '35; 36; 37; 38; 39; 40; 41; 42',
      color: 'чёрн{ый/ая/ое/ые}=black; бежев{ый/ая/ое/ые}=beige; бел{ый/ая/ое/ые}=white; красн{ый/ая/ое/ые}=red',
    },
    titles: `
      Туфли $full, $size размер
      Туфли $full, $color
    `,
    about: `
      Размер $size, цвет $color:m, [натуральная замша|кожа|внутри кожа], [колодка удобная|набойки целые]
      ~ [Надевались один раз|Были на выпускном|Лежат в коробке], [на узкую ногу|на обычную ногу]
      Цвет $color:m, $size размер, [каблук устойчивый|каблук 7 см]
    `,
    titlesEn: `
      $full shoes, size $size, $color
    `,
    aboutEn: `
      Size $size, $color, comfortable
      ~ Worn once for a party, kept in the box
      $color, size $size
    `,
  }),
];
