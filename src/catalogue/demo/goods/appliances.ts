import { kind } from './kind.ts';

const APPLIANCE_ABOUT = `
  ~ [Всё работает, можно проверить при покупке|Проверка при вас|Работает исправно, покажу]
  ~ [Стоял{/а/о/и} на съёмной квартире, больше не нуж{ен/на/но/ны}|Обновили технику на кухне|Делаем ремонт, меняем всю технику]
  [Помогу погрузить|Грузчики за ваш счёт|Есть грузовой лифт], [этаж второй|этаж первый|вынесу к подъезду]
  [Документы и инструкция есть|Инструкция сохранилась|Гарантия ещё действует]
`;

const APPLIANCE_ABOUT_EN = `
  ~ Works well, [you can check it before you buy|everything can be tested on the spot]
  ~ [We are renovating the kitchen|We moved to a furnished flat], so it is no longer needed
  [I can help to load it|Loading is up to you], manual included
`;

export const APPLIANCES = [
  kind({
    category: 'бытовая техника',
    weight: 24,
    gender: 'm',
    wear: 'device',
    bulky: true,
    noun: 'холодильник',
    english: 'fridge',
    models: `
      Bosch: KGN39 58000; KGV36 42000
      LG: GA-B459 48000 x2; GA-B509 56000
      Samsung: RB33 52000; RB37 61000
      Атлант: ХМ 4012 29000 x2; ХМ 4624 35000; МХМ 2835 26000
      Indesit: DS 4180 30000; ITR 5200 36000
      Бирюса: 118 22000; М133 25000
      Haier: C2F636 57000
      Liebherr: CNef 4313 66000
    `,
    slots: {
      height: '160; 175; 185; 190; 200',
      color:
        'бел{ый/ая/ое/ые}=white; бел{ый/ая/ое/ые}=white; серебрист{ый/ая/ое/ые}=silver*1.04; бежев{ый/ая/ое/ые}=beige',
    },
    titles: `
      Холодильник $full
      Холодильник $full, $color
      Двухкамерный холодильник $full, $height см
    `,
    about: `${APPLIANCE_ABOUT}
      Высота $height см, цвет $color:m, [полки целые|уплотнители мягкие], [морозит отлично|работает тихо]
    `,
    titlesEn: `
      $full fridge, $color
      Refrigerator $full, $height cm
    `,
    aboutEn: `${APPLIANCE_ABOUT_EN}
      Height $height cm, $color, all shelves are in place
    `,
  }),
  kind({
    category: 'бытовая техника',
    weight: 24,
    gender: 'f',
    wear: 'device',
    bulky: true,
    noun: 'стиральная машина',
    english: 'washing machine',
    models: `
      LG: F2J3 36000 x2; F2V5 45000; F1089 27000
      Samsung: WW60 34000; WW80 46000
      Bosch: WAN24 48000; WLL2426 38000
      Indesit: IWSB 5105 23000 x2; BWSE 61051 26000
      Candy: Smart CS34 24000
      Haier: HW70 40000
      Beko: WRE 6512 24000
      Ariston: VMSL 501 27000
    `,
    slots: { load: '5; 6; 6.5; 7; 8', spin: '1000; 1200; 1400' },
    titles: `
      Стиральная машина $full
      Стиральная машина $full, $load кг
      Стиралка $full, узкая
    `,
    about: `${APPLIANCE_ABOUT}
      ~ Загрузка $load кг, отжим до $spin оборотов, [подшипники не шумят|манжета целая|не течёт и не прыгает]
      Загрузка $load кг, отжим $spin, [фронтальная|узкая, глубина 40 см]
    `,
    titlesEn: `
      $full washing machine, $load kg
      Washing machine $full
    `,
    aboutEn: `${APPLIANCE_ABOUT_EN}
      Load $load kg, spin up to $spin rpm, no leaks and no noise
      $load kg, $spin rpm, front loading
    `,
  }),
  kind({
    category: 'бытовая техника',
    weight: 20,
    gender: 'm',
    wear: 'device',
    noun: 'пылесос',
    english: 'vacuum cleaner',
    models: `
      Dyson: V8 22000; V11 36000; V15 Detect 56000
      Xiaomi: Robot Vacuum S10 17000 x2; Vacuum Cleaner G10 15000; Robot Vacuum E10 12000
      Philips: PowerPro 11000; 2000 Series 8500
      Bosch: BGS05A220 9000; BWD421 19000
      Samsung: SC4140 6500; VC18 9500
      Roborock: S7 32000; Q7 Max 29000
      Karcher: WD 3 9500; DS 6 24000
    `,
    slots: {
      nozzle:
        'турбощётка=a turbo brush; три насадки=three nozzles; запасные фильтры=spare filters; все щётки=all brushes',
    },
    titles: `
      Пылесос $full
      Пылесос $full, $nozzle в комплекте
    `,
    about: `${APPLIANCE_ABOUT}
      ~ Тянет хорошо, в комплекте $nozzle, [фильтр промыт|контейнер без трещин]
      В комплекте $nozzle, [шнур длинный|пылесборник моется]
    `,
    titlesEn: `
      $full vacuum cleaner
      Vacuum cleaner $full with $nozzle
    `,
    aboutEn: `${APPLIANCE_ABOUT_EN}
      ~ Strong suction, comes with $nozzle
      Comes with $nozzle
    `,
  }),
  kind({
    category: 'бытовая техника',
    weight: 20,
    gender: 'f',
    wear: 'device',
    bulky: true,
    noun: 'кофемашина',
    english: 'coffee machine',
    models: `
      De'Longhi: Magnifica S 38000 x2; Dinamica 62000; Dedica 19000
      Philips: LatteGo 2200 42000; LatteGo 3200 55000
      Krups: Evidence 48000; Nespresso Essenza 9500
      Bosch: Tassimo 7500; VeroCup 37000
      Saeco: Lirika 33000; Xelsis 78000
    `,
    slots: { cups: '1500; 2300; 3100; 4800; 900' },
    titles: `
      Кофемашина $full
      Кофемашина $full, [капучинатор|после обслуживания|полный комплект]
    `,
    about: `${APPLIANCE_ABOUT}
      ~ Сварила около $cups чашек, [чистилась каждые полгода|обслуживалась в сервисе], кофе как в кофейне
      [Капучинатор автоматический|Варит эспрессо и американо], [жернова керамические|контейнер на два литра]
    `,
    titlesEn: `
      $full coffee machine
    `,
    aboutEn: `${APPLIANCE_ABOUT_EN}
      ~ About $cups cups made, descaled regularly, the coffee is excellent
      Automatic milk frother, steel grinder
    `,
  }),
  kind({
    category: 'бытовая техника',
    weight: 18,
    gender: 'f',
    wear: 'device',
    bulky: true,
    noun: 'микроволновка',
    english: 'microwave oven',
    models: `
      Samsung: ME83 8500; GE88 10500
      LG: MS2042 8000; MB63 12500
      Horizont: 20MW700 5000
      Panasonic: NN-GT261 9500
      Gorenje: MO17 6500
    `,
    slots: {
      litres: '17; 20; 23',
      color: 'бел{ый/ая/ое/ые}=white; чёрн{ый/ая/ое/ые}=black; серебрист{ый/ая/ое/ые}=silver',
    },
    titles: `
      Микроволновка $full
      Микроволновая печь $full, $litres л
    `,
    about: `${APPLIANCE_ABOUT}
      ~ Объём $litres литров, цвет $color:m, [тарелка целая|внутри чистая], греет быстро
      Объём $litres л, цвет $color:m, [гриль есть|механическое управление|сенсорное управление]
    `,
    titlesEn: `
      $full microwave oven, $litres l
    `,
    aboutEn: `${APPLIANCE_ABOUT_EN}
      ~ $litres litres, $color, clean inside
      $litres litres, $color, with a grill
    `,
  }),
  kind({
    category: 'бытовая техника',
    weight: 16,
    gender: 'f',
    wear: 'device',
    bulky: true,
    noun: 'плита',
    english: 'cooker',
    models: `
      Gefest: 3200 газовая 22000; 6101 газовая 31000
      Hansa: FCEW электрическая 29000; FCMW газовая 27000
      Gorenje: EC5341 электрическая 37000; GN5112 газовая 30000
      Darina: 1B газовая 15000; S EM электрическая 14000
      Electrolux: EKC электрическая 42000
    `,
    slots: { burners: 'четыре конфорки=four burners; три конфорки и одна большая=three burners and a large one' },
    titles: `
      Плита $full
      Плита $full, $burners
    `,
    about: `${APPLIANCE_ABOUT}
      ~ Духовка печёт ровно, $burners работают, [крышка в комплекте|два противня и решётка]
      $burners, [духовка с подсветкой|крышка в комплекте], ширина 50 см
    `,
    titlesEn: `
      $full cooker
    `,
    aboutEn: `${APPLIANCE_ABOUT_EN}
      ~ The oven bakes evenly, $burners
      $burners, 50 cm wide
    `,
  }),
];
