import { COLORS, kind } from './kind.ts';

export const CHILDREN = [
  kind({
    category: 'детские товары',
    weight: 34,
    gender: 'f',
    wear: 'plain',
    noun: 'коляска',
    english: 'stroller',
    models: `
      Cybex: Priam 62000; Melio 26000; Eezy S 21000
      Yoya: Plus 2 9500 x2; Care 12500
      Tutis: Zippy 31000; Mimi 34000
      Babyzen: Yoyo 44000
      Anex: m/type 58000; e/type 49000
      -: прогулочная 9000 x2; люлька 12000; 2 в 1 22000 x2; трость 4500; для двойни 24000
    `,
    slots: {
      color: COLORS,
      extra:
        'дождевик=a rain cover; москитная сетка=a mosquito net; сумка для мамы=a bag; муфта для рук=a hand muff; подстаканник=a cup holder',
    },
    titles: `
      Коляска $full
      Коляска $full, $color
      Детская коляска $full
    `,
    about: `
      ~ После одного ребёнка, [лёгкая и манёвренная|амортизация мягкая], в комплекте $extra
      ~ Цвет $color:m, [колёса не скрипят|тормоз держит|ткань постирана], [складывается одной рукой|входит в лифт]
      Цвет $color:m, в комплекте $extra, [складывается одной рукой|входит в лифт]
      $extra в комплекте, [корзина большая|спинка раскладывается полностью], цвет $color:m
    `,
    titlesEn: `
      $full stroller, $color
      Baby stroller $full
    `,
    aboutEn: `
      ~ Used for one child, light and easy to steer, comes with $extra
      ~ $color, the fabric has been washed, folds with one hand
      Comes with $extra, $color, folds with one hand
    `,
  }),
  kind({
    category: 'детские товары',
    weight: 26,
    gender: 'm',
    wear: 'plain',
    noun: 'конструктор',
    english: 'building set',
    models: `
      LEGO: Technic Bugatti~лего техник 36000; City Полиция~лего сити 6000 x2; Star Wars X-wing~лего звёздные войны 8500; Friends~лего френдс 4500 x2; Ninjago~лего ниндзяго 5000 x2; Duplo Поезд~лего дупло 9000; Harry Potter Хогвартс~лего гарри поттер 17000
      -: магнитный 2500 x2; металлический 1500; деревянный городок 1800
    `,
    slots: { parts: '180; 240; 320; 450; 560; 720' },
    titles: `
      Конструктор $full
      $full, конструктор, $parts деталей
      Конструктор $alias
    `,
    about: `
      Около $parts деталей, [инструкция на русском|коробка большая|для детей от семи лет]
      ~ Около $parts деталей, [все на месте|не хватает пары мелких], [инструкция есть|коробка сохранилась]
      ~ [Собран один раз|Стоял на полке|Ребёнок вырос], детали [чистые|вымыты]
    `,
    titlesEn: `
      $full building set
      $full, $parts pieces
    `,
    aboutEn: `
      About $parts pieces, complete, with instructions
      ~ Built once and kept on a shelf
    `,
  }),
  kind({
    category: 'детские товары',
    weight: 26,
    gender: 'n',
    wear: 'plain',
    noun: 'автокресло',
    english: 'car seat',
    models: `
      Maxi-Cosi: Cabriofix 14000; Titan 24000
      Cybex: Solution S 26000; Sirona 48000
      Britax: Römer Kidfix 19000
      Siger: Диона 8500; Кокон 7000 x2
      Heyner: Capsula 15000
      Happy Baby: Mustang 12000
      -: 0–13 кг 5500; 9–36 кг 6500 x2
    `,
    slots: { color: COLORS, fix: 'с Isofix=with Isofix*1.06; крепление ремнём=belt mounted' },
    titles: `
      Автокресло $full
      Автокресло $full, $fix
    `,
    about: `
      ~ Не в ДТП, $fix, цвет $color:m, [чехол снимается и стирается|наклон регулируется]
      ~ [Ездили к бабушке по выходным|Стояло во второй машине], ребёнок вырос
      $fix, цвет $color:m, [наклон регулируется|чехол снимается]
      Цвет $color:m, [инструкция и коробка|вкладыш для малыша], $fix
    `,
    titlesEn: `
      $full car seat, $color
    `,
    aboutEn: `
      ~ Never in an accident, $fix, the cover can be washed
      ~ $color. Our child has grown out of it
      $fix, $color, with instructions
    `,
  }),
  kind({
    category: 'детские товары',
    weight: 20,
    gender: 'm',
    wear: 'cloth',
    noun: 'комбинезон',
    english: 'snowsuit',
    models: `
      Reima: зимний~рейма 10500 x2; демисезонный 8000
      Lassie: зимний~лесси 7500
      Kerry: зимний~керри 9500
      Crockid: мембранный 5500
      -: зимний 4000 x2; слитный 3000; для прогулок 2500
    `,
    slots: { height: '74; 80; 86; 92; 98; 104; 110; 116', color: COLORS },
    titles: `
      Комбинезон $full, рост $height
      Детский комбинезон $full, $color
    `,
    about: `
      Рост $height, цвет $color:m, [не промокает|до −25 тепло|штрипки целые]
      ~ [Носили один сезон|Отходили зиму|Почти не носили, быстро вырос], [молния не заедает|светоотражатели на месте]
      Цвет $color:m, на рост $height, [капюшон отстёгивается|мембрана 10 000]
    `,
    titlesEn: `
      $full snowsuit, $height cm
    `,
    aboutEn: `
      For $height cm, $color, waterproof and warm
      ~ Worn for one winter
      $color, for $height cm
    `,
  }),
];
