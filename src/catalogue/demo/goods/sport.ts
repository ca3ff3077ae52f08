import { COLORS, kind } from './kind.ts';

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

export const BICYCLES = [
  kind({
    category: 'велосипеды и самокаты',
    weight: 54,
    gender: 'm',
    wear: 'plain',
    noun: 'велосипед',
    english: 'bicycle',
    models: `
      Stels: Navigator 610~стелс 17000 x3; Navigator 300 14000 x2; Pilot 710 15000; Miss 5000 16000
      Forward: Apache 27~форвард 19000 x2; Sporting 27 21000; Valencia 13000
      Merida: Big Nine~мерида 52000; Matts 33000
      Trek: Marlin 5~трек 48000; Marlin 7 66000
      Giant: Talon 3~гиант 46000; Escape 49000
      Cube: Aim~кубе 44000; Attention 62000
      Format: 1414 34000; 5213 41000
      Stern: Energy 16000 x2; Motion 20000
      Altair: MTB HT 15000; City 13000
      -: детский 5500 x3; складной 9500 x2; горный 12000; дорожный Урал 4000; трёхколёсный детский 3500
    `,
    slots: {
      frame: '16; 17; 18; 19; 20; 21',
      speeds: '7; 18; 21; 24',
      color: COLORS,
      extra:
        'крылья и багажник=mudguards and a rack; фонарь и звонок=a light and a bell; замок=a lock; насос=a pump; подножка=a kickstand',
    },
    titles: `
      Велосипед $full
      Велосипед $full, рама $frame
      Велик $full, $speeds скоростей
      $Color велосипед $full
    `,
    about: `
      ~ [Тормоза дисковые|Тормоза настроены|Вилка блокируется], цвет $color:m, [обслужен перед сезоном|цепь и кассета живые]
      ~ В подарок $extra, [хранился дома|хранился на балконе|стоял в гараже]
      ~ [Катались по парку|Проехал один сезон|Ездили на дачу за хлебом], велосипед [сел и поехал|вложений не требует]
      ~ Колёса [без восьмёрок|ровные], [резина хорошая|покрышки менял весной]
      Цвет $color:m, рама $frame, скоростей $speeds, [тормоза дисковые|вилка амортизационная]
      В подарок $extra, цвет $color:m, [рама алюминиевая|рама стальная, вечная]
    `,
    titlesEn: `
      $full bicycle
      $Color bike $full
    `,
    aboutEn: `
      ~ Brakes and gears adjusted, $color, ready to ride
      ~ Comes with $extra, [kept indoors|used for one season]
      ~ The bicycle needs nothing but a rider
      $color, $speeds speeds, comes with $extra
    `,
  }),
  kind({
    category: 'велосипеды и самокаты',
    weight: 28,
    gender: 'm',
    wear: 'device',
    noun: 'электросамокат',
    english: 'electric scooter',
    models: `
      Xiaomi: Mi Electric Scooter 3~сяоми 29000 x3; Scooter 4 Pro 44000 x2; Essential 21000
      Ninebot: Max G30~найнбот макс 45000 x2; KickScooter F40 37000; E22 24000
      Kugoo: S3~куго с3 16000 x2; M4 Pro~куго м4 47000; Kirin G2 60000
      White Siberia: Pro 41000
    `,
    slots: { km: '20; 25; 30; 35; 40', run: '150; 320; 480; 700; 1100' },
    titles: `
      Электросамокат $full
      Электросамокат $full, пробег $run км
      $alias, электросамокат
    `,
    about: `
      ~ Пробег $run км, на одном заряде проезжает около $km км, [в дождь не ездил|батарея родная]
      ~ [Зарядка и документы есть|Стоит усиленное крыло|Замок отдам], [подкачать колёса и ехать|тормоза отрегулированы]
      На одном заряде проезжает около $km км, [складывается|влезает в багажник|есть приложение]
      [Зарядка и документы|Коробка и зарядка], запас хода до $km км
    `,
    titlesEn: `
      $full electric scooter
      Electric scooter $full, $run km
    `,
    aboutEn: `
      ~ $run km on the clock, about $km km on a charge
      ~ Never ridden in the rain, charger included
      About $km km on a charge, folds, charger included
    `,
  }),
];
