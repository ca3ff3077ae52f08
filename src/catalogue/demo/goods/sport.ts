import { kind } from './kind.ts';

export const SPORT = [
  kind({
    category: 'спорт и отдых',
    weight: 26,
    gender: 'p',
    wear: 'plain',
    noun: 'лыжи',
    english: 'skis',
    models: `
      Fischer: Sport Glass беговые 12000; RC4 горные 38000
      Salomon: беговые Aero 19000; горные QST 41000
      Atomic: Redster горные 44000; беговые Savor 16000
      STC: беговые детские 3500; беговые 5000 x2
      Karhu: беговые 7000
    `,
    slots: { length: '150; 160; 165; 170; 180; 190; 200', boots: '38; 39; 40; 41; 42; 43; 44' },
    titles: `
      Лыжи $full, $length см
      Лыжи $full с ботинками $boots размера
    `,
    about: `
      ~ Длина $length см, крепления стоят, [палки в комплекте|чехол в подарок], [скользяк ровный|подготовлены к сезону]
      Ботинки $boots размера отдам [вместе с лыжами|за отдельную плату|в придачу]
      Длина $length см, [крепления в комплекте|палки в подарок]
    `,
    titlesEn: `
      $full skis, $length cm
    `,
    aboutEn: `
      $length cm, bindings and poles included
      Boots in size $boots can be added. Ready for the season
      $length cm, poles included
    `,
  }),
  kind({
    category: 'спорт и отдых',
    weight: 22,
    gender: 'f',
    wear: 'plain',
    noun: 'палатка',
    english: 'tent',
    models: `
      Alexika: Rondo 3 16000; Victoria 5 33000
      Tramp: Lair 3 11000; Rock 2 9500
      Quechua: Arpenaz 3 6500 x2; MH100 4500 x2
      RedFox: Challenger 24000
      Outventure: Dahab 7000; Hudson 9000
      -: зимняя куб 9000 x2; для рыбалки 4500
    `,
    slots: { people: '2; 3; 4', kg: '2,8; 3,2; 3,9; 4,5; 5,2' },
    titles: `
      Палатка $full
      Палатка $full, $people-местная
    `,
    about: `
      На $people человека, вес $kg кг, [дно не промокает|швы проклеены|дуги целые]
      ~ [Брали два раза в поход|Стояла на даче у детей|Были на Байкале и на Алтае], высушена, [колышки все|тент без дырок]
      Мест: $people, вес $kg кг, [две двери|большой тамбур]
    `,
    titlesEn: `
      $full tent for $people
    `,
    aboutEn: `
      Sleeps $people, weighs $kg kg, seams are sealed
      ~ Used on two trips, clean and dry
      For $people, $kg kg, two doors
    `,
  }),
  kind({
    category: 'спорт и отдых',
    weight: 22,
    gender: 'p',
    wear: 'plain',
    noun: 'гантели',
    english: 'dumbbells',
    models: `
      Starfit: разборные 6500; гексагональные 7000
      MB Barbell: 10 кг 8500; 20 кг 13000
      -: разборные 5000 x3; чугунные 4000 x2; обрезиненные 6000
    `,
    slots: { kg: '8; 10; 12; 16; 20; 24' },
    titles: `
      Гантели $full
      Гантели $full, пара
    `,
    about: `
      Общий вес $kg кг, [блины и замки все|гриф ровный|резина не пахнет]
      ~ [Занимался дома|Лежат под кроватью|Спортзал победил], отдам [коврик|скакалку|эспандер] в подарок
    `,
    titlesEn: `
      $full dumbbells
    `,
    aboutEn: `
      $kg kg in total, all plates and locks are there
      ~ Used at home, a mat goes as a gift
    `,
  }),
  kind({
    category: 'спорт и отдых',
    weight: 20,
    gender: 'f',
    wear: 'device',
    bulky: true,
    noun: 'беговая дорожка',
    english: 'treadmill',
    models: `
      Torneo: Nota 33000; Smarta 28000
      DFC: Boss I 37000; M200 24000
      Svensson: BodyLabs 56000
      Xiaomi: WalkingPad R1 36000; WalkingPad A1 21000
    `,
    slots: { kg: '100; 110; 120; 130', speed: '6*0.9; 12; 14; 16*1.1' },
    titles: `
      Беговая дорожка $full
      Беговая дорожка $full, до $kg кг
    `,
    about: `
      ~ Скорость до $speed км/ч, выдерживает $kg кг, [складывается|пульсометр работает|смазана]
      ~ [Стала вешалкой для одежды|Бегали месяц|Занимались зимой], [поможем спустить|первый этаж]
      До $kg кг, скорость до $speed км/ч, [складывается|на колёсиках]
    `,
    titlesEn: `
      $full treadmill
    `,
    aboutEn: `
      ~ Up to $speed km/h and $kg kg, folds up
      ~ It has become a clothes rack, give it a better life
      Up to $kg kg, folds, transport wheels
    `,
  }),
  kind({
    category: 'спорт и отдых',
    weight: 24,
    gender: 'f',
    wear: 'plain',
    noun: 'удочка',
    english: 'fishing rod',
    models: `
      Shimano: Catana фидер 7500; Alivio спиннинг 6000
      Salmo: Sniper спиннинг 2800; Elite фидер 4500
      Daiwa: Ninja фидер 8500; Crossfire спиннинг 5500
      Волжанка: Мастер фидер 5000 x2; Стрим 4000
      -: маховая 1500 x2; зимняя 700; бамбуковая 900
    `,
    slots: {
      length: '2,4; 2,7; 3; 3,6; 4; 5',
      reel: 'катушка=a reel*1.1; чехол=a case; набор приманок=a set of lures*1.05; леска=line',
    },
    titles: `
      Удочка $full, $length м
      Удочка $full
    `,
    about: `
      Длина $length м, в комплекте $reel, [кольца целые|строй быстрый|лежит в руке хорошо]
      ~ [Рыбачил пару раз|Бросил рыбалку, распродаю снасти|Дед больше не рыбачит], [поймана не одна щука|клёв проверен]
    `,
    titlesEn: `
      $full fishing rod, $length m
    `,
    aboutEn: `
      $length m long, comes with $reel
      ~ I gave up fishing and sell all my gear
    `,
  }),
];
