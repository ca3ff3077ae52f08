import { COLORS, kind } from './kind.ts';

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
