import { kind } from './kind.ts';

export const COMPUTERS = [
  kind({
    category: 'ноутбуки и компьютеры',
    weight: 80,
    gender: 'm',
    wear: 'device',
    noun: 'ноутбук',
    english: 'laptop',
    models: `
      Apple: MacBook Air 13 M1~макбук эйр 62000 x3; MacBook Air 13 M2~макбук эйр м2 82000 x2; MacBook Pro 14 M1 Pro~макбук про 14 112000; MacBook Pro 14 M3~макбук про м3 150000; MacBook Air 15 M3~макбук эйр 15 118000
      Lenovo: IdeaPad 3~леново 42000 x2; IdeaPad Slim 5~леново 64000 x2; ThinkPad T480~синкпад 28000 x2; ThinkPad X1 Carbon Gen 9~синкпад х1 78000; Legion 5~леново легион 98000 x2; Yoga Slim 7~леново йога 82000
      ASUS: VivoBook 15~асус вивобук 48000 x2; TUF Gaming A15~асус туф 88000 x2; ROG Strix G15~асус рог 112000; ZenBook 14~асус зенбук 76000
      HP: Pavilion 15~эйчпи павилион 52000 x2; 250 G8~ноут hp 38000; Victus 16~эйчпи виктус 82000; EliteBook 840 G6~элитбук 34000
      Acer: Aspire 3~асер аспайр 39000 x2; Nitro 5~асер нитро 79000 x2; Swift 3~асер свифт 58000
      MSI: Katana GF66~мси катана 90000; Modern 15~мси модерн 55000
      Huawei: MateBook D15~хуавей мейтбук 52000 x2; MateBook 14~мейтбук 14 70000
      Dell: Latitude 5420~делл 42000; Inspiron 15~делл инспайрон 50000
    `,
    slots: {
      ram: '8 ГБ=8GB; 16 ГБ=16GB*1.12',
      disk: 'SSD 256 ГБ=256GB SSD; SSD 512 ГБ=512GB SSD*1.06; SSD 1 ТБ=1TB SSD*1.14',
      hours: '4; 5; 6; 7; 8',
    },
    titles: `
      Ноутбук $full, $ram, $disk
      $full $ram / $disk
      Ноутбук $full [для работы и учёбы|в отличном комплекте|$ram]
      $alias, $ram, $disk
    `,
    about: `
      ~ $ram оперативной памяти, $disk, [загружается за 10 секунд|Windows 11 установлена|чистая система]
      ~ [Подойдёт для учёбы и офиса|Для работы, учёбы и фильмов], батарея держит около $hours часов
      ~ [Почищен, термопаста заменена|Обслужен в этом году], не греется и не шумит
      ~ Экран [без битых пикселей|матовый, IPS], клавиатура с подсветкой, [все кнопки работают|веб-камера и микрофон работают]
      ~ В комплекте родная зарядка[ и сумка| и мышь| и коробка|]. Ноут [использовался дома|брали для удалёнки|брали ребёнку на учёбу]
      $ram оперативной памяти, $disk, [подсветка клавиатуры|экран матовый]
      $disk и $ram, [зарядка в комплекте|коробка и документы|гарантийный талон]
    `,
    titlesEn: `
      $full laptop, $ram, $disk
      $full laptop [for work and study|$ram RAM|with charger]
    `,
    aboutEn: `
      ~ $ram RAM, $disk, [boots in seconds|fresh Windows 11 install|clean system]
      ~ [Great for study and office work|Good for work, study and films], battery lasts about $hours hours
      ~ Screen has no dead pixels, keyboard is backlit, webcam works
      ~ Original charger[ and a bag|] included. The laptop was used at home only
      $ram RAM, $disk, original charger included
    `,
  }),
  kind({
    category: 'ноутбуки и компьютеры',
    weight: 30,
    gender: 'm',
    wear: 'device',
    noun: 'компьютер',
    english: 'desktop PC',
    models: `
      -: игровой, RTX 3060 68000 x3; игровой, RTX 4060 92000 x3; игровой, RTX 4070 Super 145000; игровой, GTX 1660 Super 42000 x2; офисный, Core i3 19000 x2; офисный, Core i5 27000 x2; для монтажа, RTX 4080 210000
    `,
    slots: {
      ram: '8 ГБ=8GB*0.9; 16 ГБ=16GB; 16 ГБ=16GB; 32 ГБ=32GB*1.1',
      disk: 'SSD 256 ГБ=256GB SSD*0.96; SSD 512 ГБ=512GB SSD; SSD 1 ТБ=1TB SSD*1.06',
      power: '500; 600; 650; 750',
    },
    titles: `
      Компьютер $model, $ram
      ПК $model, $ram, $disk
      Системный блок $model
    `,
    about: `
      $ram памяти, $disk, блок питания $power Вт. [Собирал сам из новых комплектующих|Сборка на гарантии магазина]
      ~ [Корпус с подсветкой и стеклом|Корпус тихий, просторный], [пыль почищена|температуры в норме]
      ~ Всё лицензионное, система установлена, [можно проверить на месте|покажу в тестах]
      $disk, $ram, [мышь и клавиатуру отдам вместе|монитор отдам отдельно]
    `,
    titlesEn: `
      Desktop PC, $ram, $disk
      Custom built PC, $ram RAM
    `,
    aboutEn: `
      $ram of memory, $disk, $power W power supply
      ~ Quiet case, cleaned recently, temperatures are fine. [Tests can be run on the spot|Built from new parts]
      $disk, $ram, mouse and keyboard can be added
    `,
  }),
  kind({
    category: 'ноутбуки и компьютеры',
    weight: 24,
    gender: 'f',
    wear: 'device',
    noun: 'видеокарта',
    english: 'graphics card',
    models: `
      Palit: RTX 3060 Dual 24000; RTX 4060 Ti JetStream 39000; GTX 1660 Super 14000; RTX 4070 Dual 57000
      MSI: RTX 3060 Ti Gaming X 29000; RTX 4070 Ventus 60000; RX 580 Armor 8000
      Gigabyte: RTX 3070 Gaming OC 34000; RTX 4060 Eagle 33000; RX 6600 Eagle 21000
      ASUS: RTX 3080 TUF 46000; GTX 1050 Ti Phoenix 8000; RX 6700 XT Dual 31000
      Sapphire: RX 6600 Pulse 21000; RX 7800 XT Nitro+ 56000
    `,
    slots: { memory: '8 ГБ=8GB; 12 ГБ=12GB*1.04; 6 ГБ=6GB*0.96', degrees: '62; 65; 67; 70; 72' },
    titles: `
      Видеокарта $full
      $full
      Видеокарта $full, [не майнила|в играх не греется|с коробкой]
    `,
    about: `
      ~ Не майнила, стояла в домашнем ПК. Под нагрузкой $degrees градусов
      ~ [Коробка и чек есть|Пломбы целые], [покажу в FurMark|проверка в любых тестах при встрече]
      ~ Термопаста и прокладки [родные|заменены], вентиляторы тихие
      Память $memory, [коробка и документы|чек из магазина], [влезет в обычный корпус|три разъёма DisplayPort и HDMI]
    `,
    titlesEn: `
      $full graphics card
    `,
    aboutEn: `
      ~ Never used for mining, runs at $degrees degrees under load
      ~ [Box and receipt included|Seals intact], can be tested before you buy
      $memory of memory, box included
    `,
  }),
  kind({
    category: 'ноутбуки и компьютеры',
    weight: 22,
    gender: 'm',
    wear: 'device',
    noun: 'монитор',
    english: 'monitor',
    models: `
      LG: 24MK430H 11000; 27GP850 29000; 29WP500 21000
      Samsung: Odyssey G5 27000; F24T350 11000; S27R350 15000
      Xiaomi: Mi Desktop Monitor 1C 10000; Curved Gaming 34 32000
      AOC: 24G2 16000; 27G2 20000
      Dell: P2419H 12000; U2723QE 44000
      ASUS: TUF VG27AQ 30000
    `,
    slots: {
      legs: 'на родной ножке=on the original stand; с кронштейном=with a wall mount*1.05',
    },
    titles: `
      Монитор $full
      Монитор $full, $legs
    `,
    about: `
      ~ Без битых пикселей и засветов, $legs, [кабели в комплекте|кабель HDMI отдам]
      ~ [Брали для работы из дома|Стоял вторым монитором], картинка [сочная|ровная], глаза не устают
      Матрица IPS, $legs, [кабели в комплекте|коробка есть]
      Продаётся $legs, [HDMI и DisplayPort|есть VESA], безрамочный
    `,
    titlesEn: `
      $full monitor
      Monitor $full, $legs
    `,
    aboutEn: `
      ~ No dead pixels, $legs, cables included
      ~ Was used as a second screen [at home|for remote work]
      IPS panel, $legs, cables included
    `,
  }),
];

const PHONE_ABOUT = `
  [Полный комплект|В комплекте]: коробка, кабель[, чехол|, зарядка|, документы]
  ~ Аккумулятор [держит день|держит отлично|держит полтора дня], ёмкость $battery %
  ~ Не ремонтировался, не вскрывался, [все датчики работают|все кнопки нажимаются чётко]
  ~ Память $memory, цвет $color:m. [Сеть ловит хорошо|Динамики громкие, не хрипят]
  ~ [Всегда в чехле и с защитным стеклом|На экране защитное стекло с первого дня]
  Покупал в [официальном магазине|салоне связи|М.Видео|DNS], чек [сохранился|есть]
  ~ [Аккаунты отвязаны|Сброшен до заводских настроек], [на связи без проблем|готов к передаче]
  ~ [Камера снимает отлично|Снимает прекрасно даже вечером], [игры тянет|всё летает], памяти $memory хватает с запасом
  ~ Аппарат [личный|жены|рабочий, второй], [ничего не меняли|менялась только батарея в сервисе]
`;

const PHONE_ABOUT_EN = `
  ~ $memory, $color, battery health $battery%
  [Full set|Comes] with the original box, cable[ and a case| and charger|]
  ~ Never repaired, never opened. [Always used in a case with a screen protector|One owner since new]
  ~ Factory reset and unlocked, works with any SIM card
  Bought in an official store, receipt available. [All accounts signed out|No hidden issues]
`;

const BATTERY = '100*1.05; 98*1.03; 95; 93; 91; 89; 88; 87; 86; 85; 84*0.97; 82*0.95; 79*0.92; 76*0.9';

export const PHONES = [
  kind({
    category: 'телефоны',
    weight: 75,
    gender: 'm',
    wear: 'device',
    noun: 'айфон',
    english: 'iPhone',
    models: `
      Apple: iPhone 11~айфон 11 26000 x3; iPhone 12~айфон 12 33000 x3; iPhone 12 Pro~айфон 12 про 41000; iPhone 13~айфон 13 45000 x5; iPhone 13 mini~айфон 13 мини 39000; iPhone 13 Pro~айфон 13 про 57000 x2; iPhone 13 Pro Max~айфон 13 про макс 65000; iPhone 14~айфон 14 54000 x3; iPhone 14 Pro~айфон 14 про 71000 x2; iPhone 15~айфон 15 63000 x3; iPhone 15 Pro~айфон 15 про 86000 x2; iPhone 16~айфон 16 74000 x2; iPhone 16 Pro~айфон 16 про 105000
    `,
    slots: {
      memory: '128 ГБ=128GB; 128 ГБ=128GB; 256 ГБ=256GB*1.12',
      color: 'чёрный=black; белый=white; синий=blue',
      battery: BATTERY,
    },
    titles: `
      $model, $memory
      Apple $model $memory, $color
      $model $memory[ $color|, $color, АКБ $battery %|, комплект|]
      $alias, $memory
      $alias $memory $color
      Apple $model, $color, $memory
    `,
    about: `${PHONE_ABOUT}
      ~ Продаю $alias, [второй телефон|перешёл на новую модель|пользовалась жена]. Ёмкость аккумулятора $battery %
      ~ Face ID работает, [eSIM поддерживает|отпечатков ремонта нет]
      ~ Айфон [без нареканий|работает как часы], iCloud чистый, True Tone на месте
    `,
    titlesEn: `
      Apple $model $memory, $color
      $model $memory [unlocked|$color|full set]
    `,
    aboutEn: `${PHONE_ABOUT_EN}
      ~ Face ID and True Tone work, iCloud is clean
    `,
  }),
  kind({
    category: 'телефоны',
    weight: 70,
    gender: 'm',
    wear: 'device',
    noun: 'смартфон',
    english: 'smartphone',
    models: `
      Samsung: Galaxy A15~самсунг а15 13000; Galaxy A34~самсунг а34 19000 x2; Galaxy A54~самсунг а54 25000 x2; Galaxy A55~самсунг а55 29000; Galaxy S21 FE~самсунг с21 26000; Galaxy S22~самсунг с22 36000 x2; Galaxy S23~самсунг с23 47000 x2; Galaxy S23 Ultra~самсунг с23 ультра 72000; Galaxy S24~самсунг с24 60000; Galaxy S24 Ultra~самсунг с24 ультра 92000; Galaxy Z Flip5~самсунг флип 5 56000
      Xiaomi: Redmi Note 12~редми нот 12 14000 x3; Redmi Note 13 Pro~редми нот 13 про 22000 x3; Redmi 13C~редми 13с 10000 x2; 12T~сяоми 12т 29000; 13T Pro~сяоми 13т про 45000; 14~сяоми 14 56000; Poco X6 Pro~поко х6 про 27000 x2; Poco F5~поко ф5 28000
      Honor: X8b~хонор х8б 17000; 90~хонор 90 29000; 200~хонор 200 35000; X9b~хонор х9б 24000
      Realme: C55~реалми с55 12000; 11 Pro~реалми 11 про 24000; GT 3~реалми gt 3 33000
      Huawei: nova 11~хуавей нова 11 27000; P60 Pro~хуавей п60 про 55000; Pura 70~хуавей пура 70 62000
      Tecno: Spark 20~техно спарк 20 11000; Camon 20 Pro~техно камон 20 про 18000
      Google: Pixel 7~гугл пиксель 7 34000; Pixel 8~гугл пиксель 8 47000; Pixel 8 Pro~гугл пиксель 8 про 62000
    `,
    slots: {
      memory: '8/128 ГБ=8/128GB; 8/256 ГБ=8/256GB*1.1; 12/256 ГБ=12/256GB*1.18',
      color:
        'чёрн{ый/ая/ое/ые}=black; бел{ый/ая/ое/ые}=white; син{ий/яя/ее/ие}=blue; зелён{ый/ая/ое/ые}=green; сер{ый/ая/ое/ые}=grey; фиолетов{ый/ая/ое/ые}=purple',
      battery: '100; 98; 96; 95; 93; 92; 90',
    },
    titles: `
      $full, $memory
      $full $memory[ $color|, $color|, чёрный ящик не нужен|, полный комплект|]
      Смартфон $full $memory
      Телефон $full, $color
      $alias $memory
    `,
    about: `${PHONE_ABOUT}
      ~ Две сим-карты, отпечаток срабатывает сразу
      ~ [Экран без выгораний|Экран яркий, 120 Гц], зарядка быстрая, $alias [тянет любые игры|для работы и фото самое то]
    `,
    titlesEn: `
      $full $memory, $color
      $full smartphone $memory
    `,
    aboutEn: PHONE_ABOUT_EN,
  }),
];
