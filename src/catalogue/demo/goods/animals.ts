import { COLORS, kind } from './kind.ts';

export const ANIMALS = [
  kind({
    category: 'животные',
    weight: 30,
    gender: 'm',
    wear: 'none',
    bulky: true,
    noun: 'котёнок',
    english: 'kitten',
    models: `
      -: британский 11000 x3; мейн-кун 27000 x2; шотландский вислоухий 12000 x2; сибирский 9500; сфинкс 15000; русский голубой 10000; в добрые руки 500 x2
    `,
    slots: {
      months: '2; 3; 4',
      colour: 'рыжий=ginger; серый=grey; чёрный=black; мраморный=marbled; белый=white',
      sex: 'мальчик=a boy; девочка=a girl',
    },
    titles: `
      Котёнок $model, $sex
      Котёнок, $model, $months месяца
    `,
    about: `
      $sex, окрас $colour, $months месяца. [К лотку приучен|Ест корм и мясо|Ласковый мурлыка]
      ~ Окрас $colour, [привит по возрасту|паспорт есть|проглистован], [играет и мурчит|не боится детей]. Возраст $months месяца, $sex
      Ищет дом: $sex, $months месяца, окрас $colour. [Глазки ясные, аппетит отличный|Приучен к когтеточке|Мама и папа живут с нами]
    `,
    titlesEn: `
      Kitten, $colour, $months months old
    `,
    aboutEn: `
      $sex, $colour, $months months old, litter trained and vaccinated
      $colour, $sex, $months months, eats everything and purrs
    `,
  }),
  kind({
    category: 'животные',
    weight: 22,
    gender: 'm',
    wear: 'none',
    bulky: true,
    noun: 'щенок',
    english: 'puppy',
    models: `
      -: хаски 15000 x2; корги 42000 x2; немецкой овчарки 17000 x2; шпица 33000 x2; лабрадора 21000; йоркширского терьера 24000; таксы 19000
    `,
    slots: {
      months: '2; 3; 4',
      sex: 'мальчик=a boy; девочка=a girl',
      parent:
        'родители с документами=parents have papers*1.1; мама живёт с нами=the mother lives with us; родителей можно увидеть=you can see the parents',
    },
    titles: `
      Щенок $model, $sex
      Щенок $model, $months месяца
    `,
    about: `
      $sex, $months месяца, $parent. [Привит и чипирован|Прививка первая сделана]
      Возраст $months месяца, $parent, [ест сухой корм|к пелёнке приучен|гуляет на поводке]. В доме [есть дети|есть кошка], ладит со всеми. Это $sex
      $sex, $parent, $months месяца, [активный и умный|спокойный характер|поможем с воспитанием]
    `,
    titlesEn: `
      Puppy, $sex, $months months old
    `,
    aboutEn: `
      $sex, $months months old, vaccinated, $parent
      $sex, $parent, $months months, playful and smart
    `,
  }),
  kind({
    category: 'животные',
    weight: 12,
    gender: 'm',
    wear: 'plain',
    bulky: true,
    noun: 'аквариум',
    english: 'aquarium',
    models: `
      Juwel: Rio 125 24000; Lido 120 26000
      AquaEl: Leddy 9500; Opti 14000
      Биодизайн: Классик 12000
      -: с тумбой 9000 x2; на 50 литров 3500; на 200 литров 11000
    `,
    slots: { extra: 'фильтр=a filter; компрессор=an air pump; светильник=a lamp; грунт и коряги=gravel and wood' },
    titles: `
      Аквариум $full
      Аквариум $full, $extra в комплекте
    `,
    about: `
      ~ Не течёт, $extra отдам, [рыбки уехали к друзьям|стекло без царапин|крышка целая]
      ~ [Вымыт и сухой|Запущен, можно посмотреть], [вывоз самостоятельно|помогу донести], в комплекте $extra
      В комплекте $extra, [стекло 6 мм|крышка с подсветкой]
      Отдаю вместе: $extra, корм[ и сачок|]
    `,
    titlesEn: `
      Aquarium $full
    `,
    aboutEn: `
      ~ No leaks, comes with $extra, clean and dry
      Comes with $extra and some fish food
    `,
  }),
];

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
